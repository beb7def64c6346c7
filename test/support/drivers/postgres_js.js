// postgres_js.js - postgres.js: twenty transactions of two people in turn, and rows by a cursor; `named` prepares statements.
const postgres = require('postgres');
const named = process.argv[2] === 'named';

(async () => {
  const sql = postgres({ host: process.env.PGHOST, port: Number(process.env.PGPORT), user: 'app', database: 'postgres', max: 1, prepare: named, fetch_types: false });
  for (let i = 1; i <= 20; ++i)
    await sql.begin(async (one) => {
      await one`SELECT set_config('app.login', ${i % 2 ? 'alice' : 'bob'}, true)`;
      await one`SELECT city FROM patients WHERE id = ${i}`;
    });
  await sql.begin(async (one) => {
    await one`SELECT set_config('app.login', 'alice', true)`;
    await one`SELECT name FROM patients WHERE id <= 5`.cursor(2, () => {});
  });
  await sql.end();
})().catch((error) => { console.error(error); process.exit(1); });

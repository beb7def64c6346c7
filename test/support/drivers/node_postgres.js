// node_postgres.js - pg: twenty transactions of two people in turn; `named` prepares statements under a name.
const { Client } = require('pg');
const named = process.argv[2] === 'named';

(async () => {
  const client = new Client({ host: process.env.PGHOST, port: Number(process.env.PGPORT), user: 'app', database: 'postgres' });
  await client.connect();
  for (let i = 1; i <= 20; ++i) {
    await client.query('BEGIN');
    await client.query("SELECT set_config('app.login', $1, true)", [i % 2 ? 'alice' : 'bob']);
    const lookUp = { text: 'SELECT city FROM patients WHERE id = $1', values: [i] };
    if (named) lookUp.name = 'look up';
    await client.query(lookUp);
    await client.query('COMMIT');
  }
  await client.end();
})().catch((error) => { console.error(error); process.exit(1); });

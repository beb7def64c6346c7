# psycopg3.py - psycopg 3: twenty transactions of two people in turn, and rows by a cursor of the server; `named` prepares
# statements.
import os
import sys

import psycopg

named = sys.argv[1] == "named"
with psycopg.connect(host=os.environ["PGHOST"], port=os.environ["PGPORT"], user="app", dbname="postgres",
                     prepare_threshold=0 if named else None) as connection:
    for i in range(1, 21):
        with connection.transaction():
            connection.execute("SELECT set_config('app.login', %s, true)", ["alice" if i % 2 else "bob"])
            connection.execute("SELECT city FROM patients WHERE id = %s", [i]).fetchall()
    with connection.transaction():
        connection.execute("SELECT set_config('app.login', 'alice', true)")
        with connection.cursor("rows") as cursor:
            cursor.execute("SELECT name FROM patients WHERE id <= 5")
            while cursor.fetchmany(2):
                pass

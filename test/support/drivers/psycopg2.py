# psycopg2.py - psycopg 2, which writes constants into the text: twenty transactions of two people in turn, and rows by a cursor
# of the server; `named` prepares by PREPARE.
import os
import sys

import psycopg2 as driver

named = sys.argv[1] == "named"
connection = driver.connect(host=os.environ["PGHOST"], port=os.environ["PGPORT"], user="app", dbname="postgres")
cursor = connection.cursor()
if named:
    cursor.execute("PREPARE look_up(int) AS SELECT city FROM patients WHERE id = $1")
for i in range(1, 21):
    cursor.execute("SELECT set_config('app.login', %s, true)", ["alice" if i % 2 else "bob"])
    cursor.execute("EXECUTE look_up(%s)" if named else "SELECT city FROM patients WHERE id = %s", [i])
    cursor.fetchall()
    connection.commit()
cursor.execute("SELECT set_config('app.login', 'alice', true)")
rows = connection.cursor("rows")
rows.execute("SELECT name FROM patients WHERE id <= 5")
while rows.fetchmany(2):
    pass
connection.commit()
connection.close()

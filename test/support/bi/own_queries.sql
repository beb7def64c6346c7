-- 101 Metabase: count of rows of a table
SELECT COUNT(*) AS "count" FROM "public"."patients";
-- 102 Metabase: a month by month, with a relative filter made absolute
SELECT DATE_TRUNC('month', "public"."visits"."admitted_at") AS "admitted_at", COUNT(*) AS "count" FROM "public"."visits" WHERE "public"."visits"."admitted_at" >= timestamp with time zone '2024-01-01 00:00:00.000Z' AND "public"."visits"."admitted_at" < timestamp with time zone '2025-01-01 00:00:00.000Z' GROUP BY DATE_TRUNC('month', "public"."visits"."admitted_at") ORDER BY DATE_TRUNC('month', "public"."visits"."admitted_at") ASC;
-- 103 Metabase: implicit join to a dimension through a foreign key
SELECT "departments__via__department_id"."name" AS "departments__via__department_id__name", COUNT(*) AS "count" FROM "public"."visits" LEFT JOIN "public"."departments" AS "departments__via__department_id" ON "public"."visits"."department_id" = "departments__via__department_id"."department_id" GROUP BY "departments__via__department_id"."name" ORDER BY "count" DESC, "departments__via__department_id"."name" ASC;
-- 104 Metabase: distinct values of a key of persons
SELECT COUNT(DISTINCT "public"."visits"."patient_id") AS "count" FROM "public"."visits" WHERE "public"."visits"."status" = 'open';
-- 105 Metabase: a filter by text that contains
SELECT COUNT(*) AS "count" FROM "public"."patients" WHERE (LOWER("public"."patients"."city") LIKE '%berg%');
-- 106 Metabase: a custom column with CASE, filtered by null
SELECT CASE WHEN "public"."visits"."triage_level" <= 2 THEN 'urgent' WHEN "public"."visits"."triage_level" IS NULL THEN 'none' ELSE 'other' END AS "urgency", COUNT(*) AS "count" FROM "public"."visits" GROUP BY CASE WHEN "public"."visits"."triage_level" <= 2 THEN 'urgent' WHEN "public"."visits"."triage_level" IS NULL THEN 'none' ELSE 'other' END ORDER BY 1 ASC;
-- 107 Metabase: day of week
SELECT (CAST(extract(dow from "public"."visits"."admitted_at") AS integer) + 1) AS "admitted_at", COUNT(*) AS "count" FROM "public"."visits" GROUP BY (CAST(extract(dow from "public"."visits"."admitted_at") AS integer) + 1) ORDER BY 1 ASC;
-- 108 Metabase: a question over a question with an average of counts
SELECT AVG("source"."count") AS "avg" FROM (SELECT "public"."visits"."department_id" AS "department_id", COUNT(*) AS "count" FROM "public"."visits" GROUP BY "public"."visits"."department_id") AS "source";
-- 109 Metabase: a share by conditional sums
SELECT SUM(CASE WHEN "public"."billing"."paid" = TRUE THEN 1 ELSE 0.0 END) / NULLIF(COUNT(*), 0) AS "share" FROM "public"."billing";
-- 110 Metabase: the greatest value
SELECT MAX("public"."billing"."amount") AS "max" FROM "public"."billing";
-- 111 Metabase: a list of distinct values for a filter
SELECT "public"."visits"."status" AS "status" FROM "public"."visits" GROUP BY "public"."visits"."status" ORDER BY "public"."visits"."status" ASC LIMIT 1000;
-- 112 Superset: big number with a time range
SELECT SUM(amount) AS "SUM(amount)" FROM public.billing WHERE issued_on >= TO_DATE('2025-01-01', 'YYYY-MM-DD') AND issued_on < TO_DATE('2026-01-01', 'YYYY-MM-DD') LIMIT 50000;
-- 113 Superset: pie chart
SELECT payer AS payer, COUNT(*) AS count FROM public.billing GROUP BY payer ORDER BY count DESC LIMIT 100;
-- 114 Superset: a virtual dataset with a join
SELECT specialty AS specialty, COUNT(*) AS count FROM (SELECT v.visit_id, v.patient_id, p.specialty FROM visits v JOIN physicians p ON p.physician_id = v.physician_id) AS virtual_table GROUP BY specialty ORDER BY count DESC LIMIT 10000;
-- 115 Superset: distinct persons of a virtual dataset
SELECT COUNT(DISTINCT patient_id) AS "COUNT_DISTINCT(patient_id)" FROM (SELECT * FROM visits WHERE visit_type = 'emergency') AS virtual_table LIMIT 50000;
-- 116 Superset: time series of the top series, by a sub-query
SELECT DATE_TRUNC('month', admitted_at) AS __timestamp, visit_type AS visit_type, COUNT(*) AS count FROM public.visits JOIN (SELECT visit_type AS visit_type__, COUNT(*) AS mme_inner__ FROM public.visits GROUP BY visit_type ORDER BY mme_inner__ DESC LIMIT 2) AS series_limit ON visit_type = visit_type__ WHERE admitted_at >= '2025-01-01' AND admitted_at < '2025-07-01' GROUP BY DATE_TRUNC('month', admitted_at), visit_type ORDER BY count DESC LIMIT 10000;
-- 117 Superset: filter box with NOT IN
SELECT COUNT(*) AS count FROM public.visits WHERE visit_type NOT IN ('emergency') AND status IN ('open', 'closed') LIMIT 50000;
-- 118 Superset: a metric with CASE
SELECT test_code AS test_code, AVG(CASE WHEN abnormal THEN 1.0 ELSE 0.0 END) AS "share abnormal" FROM public.lab_results GROUP BY test_code ORDER BY "share abnormal" DESC LIMIT 1000;
-- 119 Superset: a heat map
SELECT EXTRACT(HOUR FROM admitted_at) AS hour, EXTRACT(ISODOW FROM admitted_at) AS day, COUNT(*) AS count FROM public.visits GROUP BY EXTRACT(HOUR FROM admitted_at), EXTRACT(ISODOW FROM admitted_at) ORDER BY count DESC LIMIT 10000;
-- 120 Superset: a histogram's raw column
SELECT amount AS amount FROM public.billing WHERE amount IS NOT NULL LIMIT 10000;
-- 121 Superset: a median
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY amount) AS median FROM public.billing LIMIT 50000;
-- 122 Superset: a pivot with totals, HAVING
SELECT payer AS payer, paid AS paid, SUM(amount) AS total FROM public.billing GROUP BY payer, paid HAVING COUNT(*) > 50 ORDER BY total DESC LIMIT 10000;
-- 123 Grafana: time series by a macro of groups
SELECT floor(extract(epoch from admitted_at)/86400)*86400 AS "time", count(*) AS value FROM visits WHERE admitted_at BETWEEN '2025-01-01T00:00:00Z' AND '2025-01-08T00:00:00Z' GROUP BY 1 ORDER BY 1;
-- 124 Grafana: a single stat
SELECT count(*) FROM visits WHERE status = 'open' AND admitted_at >= '2025-12-01T00:00:00Z';
-- 125 Grafana: a gauge of a rate in percent
SELECT 100.0 * count(*) FILTER (WHERE abnormal) / count(*) AS "abnormal %" FROM lab_results WHERE taken_at >= '2025-06-01T00:00:00Z' AND taken_at <= '2025-12-01T00:00:00Z';
-- 126 Grafana: a variable of values
SELECT DISTINCT visit_type FROM visits ORDER BY 1;
-- 127 Grafana: several series from one query
SELECT date_trunc('week', issued_on) AS "time", sum(amount) AS "billed", sum(amount) FILTER (WHERE paid) AS "paid" FROM billing WHERE issued_on >= '2025-01-01' AND issued_on < '2025-04-01' GROUP BY 1 ORDER BY 1;
-- 128 Grafana: a bar gauge over a dimension
SELECT d.building AS metric, avg(extract(epoch from v.discharged_at - v.admitted_at) / 3600) AS hours FROM visits v JOIN departments d ON d.department_id = v.department_id WHERE v.discharged_at IS NOT NULL GROUP BY d.building ORDER BY 2 DESC;
-- 129 Grafana: an alert's condition
SELECT count(*) AS value FROM lab_results WHERE abnormal AND taken_at > timestamptz '2025-11-28 00:00:00Z' - interval '30 days' HAVING count(*) > 5;
-- 130 Grafana: a log of rows
SELECT taken_at AS "time", test_code, value FROM lab_results ORDER BY taken_at DESC LIMIT 100;
-- 131 Tableau: sum by a month that is a date part
SELECT CAST(EXTRACT(MONTH FROM "billing"."issued_on") AS BIGINT) AS "mn:issued_on:ok", SUM("billing"."amount") AS "sum:amount:ok" FROM "public"."billing" "billing" GROUP BY 1;
-- 132 Tableau: a truncated date with a quarter
SELECT DATE_TRUNC('QUARTER', CAST("billing"."issued_on" AS TIMESTAMP)) AS "tqr:issued_on:ok", SUM("billing"."amount") AS "sum:amount:ok" FROM "public"."billing" "billing" GROUP BY 1;
-- 133 Tableau: a join of the data source
SELECT "departments"."name" AS "name", COUNT(1) AS "cnt:visits:ok", AVG("visits"."triage_level") AS "avg:triage_level:ok" FROM "public"."visits" "visits" INNER JOIN "public"."departments" "departments" ON ("visits"."department_id" = "departments"."department_id") GROUP BY 1;
-- 134 Tableau: COUNTD of persons by a dimension
SELECT "visits"."visit_type" AS "visit_type", COUNT(DISTINCT "visits"."patient_id") AS "ctd:patient_id:ok" FROM "public"."visits" "visits" GROUP BY 1;
-- 135 Tableau: COUNTD of something else
SELECT COUNT(DISTINCT "diagnoses"."icd_code") AS "ctd:icd_code:ok" FROM "public"."diagnoses" "diagnoses";
-- 136 Tableau: a domain of a quick filter
SELECT "patients"."insurance_type" AS "insurance_type" FROM "public"."patients" "patients" GROUP BY 1 ORDER BY 1 ASC NULLS FIRST;
-- 137 Tableau: bins of a measure
SELECT CAST(FLOOR("lab_results"."value" / 25) AS BIGINT) AS "value (bin)", COUNT(1) AS "cnt" FROM "public"."lab_results" "lab_results" WHERE "lab_results"."value" >= 0 AND "lab_results"."value" < 200 GROUP BY 1;
-- 138 Tableau: a level of detail for each person
SELECT AVG("t0"."n") AS "avg:n:ok" FROM (SELECT "visits"."patient_id" AS "patient_id", COUNT(1) AS "n" FROM "public"."visits" "visits" GROUP BY 1) "t0";
-- 139 Tableau: a standard deviation
SELECT STDDEV_SAMP("billing"."amount") AS "std:amount:ok" FROM "public"."billing" "billing" HAVING (COUNT(1) > 0);
-- 140 Django: count()
SELECT COUNT(*) AS "__count" FROM "patients" WHERE "patients"."smoker";
-- 141 Django: aggregate with a lookup over dates
SELECT AVG("billing"."amount") AS "amount__avg", COUNT("billing"."invoice_id") AS "n" FROM "billing" WHERE ("billing"."issued_on" BETWEEN '2025-01-01'::date AND '2025-12-31'::date AND NOT "billing"."paid");
-- 142 Django: values().annotate()
SELECT "patients"."gender" AS "gender", COUNT("patients"."patient_id") AS "total" FROM "patients" GROUP BY 1 ORDER BY "total" DESC;
-- 143 Django: TruncMonth of a time zone
SELECT DATE_TRUNC('month', "visits"."admitted_at" AT TIME ZONE 'UTC') AS "month", COUNT("visits"."visit_id") AS "n" FROM "visits" GROUP BY DATE_TRUNC('month', "visits"."admitted_at" AT TIME ZONE 'UTC') ORDER BY 1 ASC;
-- 144 Django: Coalesce of a conditional sum
SELECT COALESCE(SUM("billing"."amount") FILTER (WHERE "billing"."payer" = 'private'), 0) AS "private" FROM "billing";
-- 145 Django: distinct count through a relation
SELECT "departments"."name", COUNT(DISTINCT "visits"."patient_id") AS "patients" FROM "visits" INNER JOIN "departments" ON ("visits"."department_id" = "departments"."department_id") GROUP BY "departments"."name" ORDER BY "departments"."name" ASC;
-- 146 Django: icontains and a negated condition
SELECT COUNT(*) AS "__count" FROM "patients" WHERE (UPPER("patients"."city"::text) LIKE UPPER('%b%') AND NOT ("patients"."insurance_type" = 'public'));
-- 147 Django: a page of the admin
SELECT "patients"."patient_id", "patients"."mrn", "patients"."last_name" FROM "patients" ORDER BY "patients"."patient_id" DESC LIMIT 100;
-- 148 Django: exists()
SELECT 1 AS "a" FROM "patients" WHERE "patients"."mrn" = 'M1' LIMIT 1;
-- 149 Django: a subquery in a filter over a public table
SELECT COUNT(*) AS "__count" FROM "visits" WHERE "visits"."department_id" IN (SELECT U0."department_id" FROM "departments" U0 WHERE U0."beds" > 20);
-- 150 SQLAlchemy: func.count over a select
SELECT count(*) AS count_1 FROM (SELECT visits.visit_id AS visits_visit_id, visits.patient_id AS visits_patient_id FROM visits WHERE visits.status = 'closed') AS anon_1;
-- 151 SQLAlchemy: group_by with labels
SELECT visits.visit_type, count(visits.visit_id) AS n, avg(visits.triage_level) AS triage FROM visits GROUP BY visits.visit_type HAVING count(visits.visit_id) > 10 ORDER BY n DESC;
-- 152 SQLAlchemy: case()
SELECT sum(CASE WHEN (billing.paid IS true) THEN billing.amount ELSE 0 END) AS paid, sum(billing.amount) AS total FROM billing;
-- 153 SQLAlchemy: a CTE
WITH monthly AS (SELECT date_trunc('month', visits.admitted_at) AS month, count(*) AS n FROM visits WHERE visits.admitted_at >= '2025-01-01' AND visits.admitted_at < '2026-01-01' GROUP BY date_trunc('month', visits.admitted_at)) SELECT monthly.month, sum(monthly.n) OVER (ORDER BY monthly.month) AS running FROM monthly ORDER BY monthly.month;
-- 154 SQLAlchemy: a correlated EXISTS over a public table
SELECT count(*) AS count_1 FROM diagnoses WHERE EXISTS (SELECT * FROM icd_codes WHERE icd_codes.icd_code = diagnoses.icd_code AND icd_codes.chapter = 'I');
-- 155 SQLAlchemy: extract
SELECT EXTRACT(year FROM diagnoses.diagnosed_on) AS year, count(*) AS n FROM diagnoses WHERE diagnoses.is_primary GROUP BY EXTRACT(year FROM diagnoses.diagnosed_on) ORDER BY year;
-- 156 SQLAlchemy: a union of counts
SELECT 'labs' AS kind, count(*) AS n FROM lab_results UNION ALL SELECT 'diagnoses' AS kind, count(*) AS n FROM diagnoses ORDER BY kind;
-- 157 SQLAlchemy: string_agg
SELECT patients.city, string_agg(patients.gender, ',') AS genders FROM patients GROUP BY patients.city;
-- 158 Hibernate: count of a query
select count(p1_0.patient_id) from patients p1_0 where p1_0.gender='f' and p1_0.registered_on>='2020-01-01';
-- 159 Hibernate: a projection with groups
select d1_0.name,count(v1_0.visit_id),avg(v1_0.triage_level) from visits v1_0 join departments d1_0 on d1_0.department_id=v1_0.department_id where v1_0.status='closed' group by d1_0.name order by 2 desc offset 0 rows fetch first 10 rows only;
-- 160 Hibernate: a sum with coalesce
select coalesce(sum(b1_0.amount),0) from billing b1_0 where b1_0.paid=false;
-- 161 Hibernate: an entity by its key
select p1_0.patient_id,p1_0.birth_date,p1_0.city from patients p1_0 where p1_0.patient_id=1;
-- 162 Hibernate: distinct persons
select count(distinct v1_0.patient_id) from visits v1_0 where v1_0.admitted_at between '2025-01-01 00:00:00+00' and '2025-03-31 23:59:59+00';
-- 163 Hibernate: extract in groups
select extract(month from v1_0.admitted_at),count(*) from visits v1_0 group by extract(month from v1_0.admitted_at) order by 1;
-- 164 ActiveRecord: count
SELECT COUNT(*) FROM "visits" WHERE "visits"."visit_type" = 'inpatient' AND "visits"."discharged_at" IS NULL;
-- 165 ActiveRecord: group(:column).count
SELECT COUNT(*) AS "count_all", "visits"."visit_type" AS "visits_visit_type" FROM "visits" GROUP BY "visits"."visit_type";
-- 166 ActiveRecord: sum through a join
SELECT SUM("billing"."amount") FROM "billing" WHERE "billing"."payer" IN ('private', 'self');
-- 167 ActiveRecord: average by groups with an order
SELECT AVG("lab_results"."value") AS "average_value", "lab_results"."test_code" AS "lab_results_test_code" FROM "lab_results" WHERE "lab_results"."value" IS NOT NULL GROUP BY "lab_results"."test_code" ORDER BY "lab_results"."test_code" ASC;
-- 168 ActiveRecord: exists?
SELECT 1 AS one FROM "patients" WHERE "patients"."city" = 'Bern' LIMIT 1;
-- 169 ActiveRecord: distinct.count of persons
SELECT COUNT(DISTINCT "lab_results"."patient_id") FROM "lab_results" WHERE "lab_results"."abnormal" = TRUE;
-- 170 ActiveRecord: groupdate
SELECT COUNT(*) AS "count_all", DATE_TRUNC('week', "visits"."admitted_at"::timestamptz AT TIME ZONE 'Etc/UTC') AT TIME ZONE 'Etc/UTC' AS "week" FROM "visits" WHERE ("visits"."admitted_at" >= '2025-01-06 00:00:00+00' AND "visits"."admitted_at" < '2025-03-03 00:00:00+00') GROUP BY DATE_TRUNC('week', "visits"."admitted_at"::timestamptz AT TIME ZONE 'Etc/UTC') AT TIME ZONE 'Etc/UTC';

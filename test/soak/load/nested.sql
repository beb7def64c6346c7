-- events 2: a statement within a function
\set ward random(1, 9)
SELECT people_of(:ward);

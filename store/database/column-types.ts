import pg from "pg";

const INT8 = 20;

/** Conversion of column values by pg: a `bigint` becomes a number, since none of ours passes 2^53. */
export const COLUMN_TYPES: pg.CustomTypesConfig = {
  getTypeParser: (oid: number, format?: "text" | "binary") =>
    oid === INT8 ? Number : pg.types.getTypeParser(oid, format),
};

// In the process's own zone a time of before 1893 loses the seconds by which local time was off then.
pg.defaults.parseInputDatesAsUTC = true;

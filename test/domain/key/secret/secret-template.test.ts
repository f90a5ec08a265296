import { describe, expect, it } from "vitest";
import { renderSecretData } from "../../../../domain/key/secret/secret-template.ts";
import { stateOf } from "../../rule-table.ts";
import { SECRET_DATA_RULES } from "./secret-template.rows.ts";

describe.each(SECRET_DATA_RULES.tables)("$decision", ({ rows }) => {
  it.each(rows)("$rule", (row) => {
    const { key, declared, endpoints } = stateOf(SECRET_DATA_RULES, row);
    expect(renderSecretData(key, declared, endpoints)).toEqual(row.outcome);
  });
});

import { describe, expect, it } from "vitest";
import { renderSecretData } from "../../../../domain/key/secret/secret-template.ts";
import { errorsOf, key } from "../../manifest/read.ts";
import { stateOf } from "../../rule-table.ts";
import { SECRET_DATA_RULES } from "./secret-template.rows.ts";

describe.each(SECRET_DATA_RULES.tables)("$decision", ({ rows }) => {
  it.each(rows)("$rule", (row) => {
    const { key, declared, endpoints } = stateOf(SECRET_DATA_RULES, row);
    expect(renderSecretData(key, declared, endpoints)).toEqual(row.outcome);
  });
});

const TEMPLATES = ["Env", "McpConfig", "ServiceBinding"] as const;

describe.each(TEMPLATES)("The data key of a key with the template %s", (template) => {
  const endpoints = { publicUrl: "https://keyplane.example", gatewayPublicId: "main" };
  const declared = { scopes: ["memory:read" as const], secret: { template, dataKey: "api-key" } };
  const written = Object.entries(renderSecretData("the-key", declared, endpoints));

  it.each(written)("may be %s only if the template writes the key itself there", (dataKey, value) => {
    const errors = errorsOf(key(`{ preset: MCPReadOnly, secret: { template: ${template}, dataKey: ${dataKey} } }`));
    const refused = [
      "spec.secret.dataKey: secret.template writes something else there: write another data key, such as api-key, or leave out the template",
    ];
    expect(errors).toEqual(value === "the-key" ? [] : refused);
  });
});

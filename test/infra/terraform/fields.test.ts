import { expect, it } from "vitest";
import { API_MANAGED_KEY_FIELDS } from "../../../domain/key/declaration/api-managed-key.ts";
import { specSchema } from "../../../domain/manifest/validation/json-schema.ts";
import packageJson from "../../../package.json" with { type: "json" };
import { read } from "../../architecture/sources.ts";

const SPEC = read("infra/terraform/internal/provider/spec_fields.go");
const { gatewayRef, libraryAccess, subjectAccess, rateLimit, budgets } = specSchema("PlatformKey").properties ?? {};
const namesOf = (properties: object = {}): string[] => Object.keys(properties);

/** The fields of a struct, as the management API has them. */
function fieldsOf(struct: string): string[] {
  const [, body = ""] = new RegExp(`^type ${struct} struct \\{\\n([\\s\\S]*?)^\\}`, "m").exec(SPEC) ?? [];
  return [...body.matchAll(/json:"(\w+)/g)].map(([, name = ""]) => name);
}

it.each([
  ["spec", [...API_MANAGED_KEY_FIELDS]],
  ["reference", namesOf(gatewayRef?.properties)],
  ["libraryAccess", namesOf(libraryAccess?.properties)],
  ["subjectAccess", namesOf(subjectAccess?.properties)],
  ["rateLimit", namesOf(rateLimit?.properties)],
  ["budget", namesOf(budgets?.items?.properties)],
])("the Go struct %s has the fields that the declarations have", (struct, fields) => {
  expect(fields.length).toBeGreaterThan(1);
  expect(fieldsOf(struct).toSorted()).toEqual(fields.toSorted());
});

it("each of them is an argument, and lists whose order means nothing are sorted before they are compared", () => {
  const names = [...SPEC.matchAll(/tfsdk:"(\w+)"/g)].map(([, name = ""]) => name);
  expect(names).toEqual(expect.arrayContaining(["allowed_cidrs", "mcp_default_library_ref", "requests_per_minute"]));
  expect(names.filter((name) => !SPEC.includes(`"${name}": schema.`))).toEqual([]);
  const sorted = [...SPEC.matchAll(/= sorted\(given\.(\w+)\)/g)].map(([, name]) => name);
  expect(sorted).toEqual(["Scopes", "AllowedModels", "AllowedCIDRs"]);
});

it("the provider says the version of Keyplane", () => {
  expect(read("infra/terraform/internal/provider/provider.go")).toContain(`const Version = "${packageJson.version}"`);
});

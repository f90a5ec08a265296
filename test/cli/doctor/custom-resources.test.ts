import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { judgeDefinition } from "../../../cli/doctor/custom-resources.ts";

const FILE = join(import.meta.dirname, "../../../crds/platformkeys.yaml");

/** The definition as an API server has it, with one thing changed. */
function definition(change: (served: Served) => void = () => {}) {
  const { spec }: { spec: Served["spec"] } = parse(readFileSync(FILE, "utf8"));
  const status = { conditions: [{ type: "Established", status: "True" }], storedVersions: ["v1alpha1"] };
  const served = { spec, status };
  change(served);
  return judgeDefinition("PlatformKey", served).map(({ severity, message }) => `${severity} ${message}`);
}
type Properties = Record<string, { properties: Properties }>;
type Version = { name: string; served: boolean; schema: { openAPIV3Schema: { properties: Properties } } };
type Served = {
  spec: { versions: Version[] };
  status: { conditions: { type: string; status: string }[]; storedVersions: string[] };
};

test("doctor finds nothing in the definition that this build was made with", () => {
  expect(definition()).toEqual([]);
});

test("doctor finds a definition that is of another version, is not served or is not established", () => {
  const lacking = definition(({ spec }) => {
    delete spec.versions[0]?.schema.openAPIV3Schema.properties.spec?.properties.rotation;
  });
  expect(lacking).toEqual([
    "error platformkeys.keyplane.dev is of another version than this build: it lacks .spec.rotation",
  ]);
  const renamed = definition(({ spec }) => {
    spec.versions = spec.versions.slice(0, 1).map((version) => ({ ...version, name: "v9" }));
  });
  expect(renamed).toEqual([
    "error platformkeys.keyplane.dev does not serve v1alpha1, which this build works with, but v9",
  ]);
  const pending = definition(({ status }) => {
    status.conditions = [{ type: "Established", status: "False" }];
  });
  expect(pending).toEqual([expect.stringMatching(/^error platformkeys.keyplane.dev is not established/)]);
});

test("doctor notes objects that are stored in another version", () => {
  const stored = definition(({ status }) => {
    status.storedVersions = ["v1alpha0", "v1alpha1"];
  });
  expect(stored).toEqual(["note platformkeys.keyplane.dev may have objects that are stored as v1alpha0"]);
});

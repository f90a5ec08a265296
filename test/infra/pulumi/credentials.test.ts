import { expect, test } from "vitest";
import { checkInputs } from "../../../infra/pulumi/provider/check.ts";
import { RESOURCES } from "../../../infra/pulumi/provider/resources.ts";
import { isSameSpec } from "../../../infra/pulumi/provider/spec.ts";
import { UNKNOWN, type Values } from "../../../infra/pulumi/provider/values.ts";

const PLACE = { name: "local", dialect: "openai", baseURL: "http://127.0.0.1:8000/v1" };
const kind = RESOURCES.get("keyplane:index:ModelGateway") ?? expect.fail("no ModelGateway");

function faultsOf(upstream: Values, olds: Values = {}): string[] {
  const news: Values = { name: "main", team: "research", upstreams: [{ ...PLACE, ...upstream }] };
  const checked = checkInputs(kind, { urn: "urn", resource: "main", news, olds });
  return checked.diagnostics.map(({ path, message }) => `${path}: ${message}`);
}

test("b393: an upstream without a credential says so, and one that forgets it is at fault", () => {
  expect(faultsOf({ noCredential: true })).toEqual([]);
  expect(faultsOf({ noCredential: UNKNOWN })).toEqual([]);
  expect(faultsOf({ credential: "sk-1", noCredential: false })).toEqual([]);
  expect(faultsOf({ credential: "sk-1", noCredential: true })).toEqual([
    "upstreams[0].noCredential: excludes credential: remove one of them",
  ]);
  const missing =
    "upstreams[0].credential: is missing: write the provider's credential, or noCredential: true for an upstream that takes none";
  expect(faultsOf({})).toEqual([missing]);
  expect(faultsOf({ noCredential: false })).toEqual([missing]);
  expect(faultsOf({}, { name: "main" })).toEqual([]);
  expect(faultsOf({ noCredential: "yes", credential: "sk-1" })).toEqual([
    "upstreams[0].noCredential: must be true or false",
  ]);
});

test("b393: a spec with a credential differs from one without, and not from what the API shows of it", () => {
  const spec = (fields: object) => ({ upstreams: [{ ...PLACE, ...fields }] });
  const isSame = (one: object, other: object) => isSameSpec("ModelGateway", "main", spec(one), spec(other));
  expect(isSame({ credential: "sk-1" }, {})).toBe(true);
  expect(isSame({ credential: "sk-1", noCredential: false }, {})).toBe(true);
  expect(isSame({ noCredential: true }, { noCredential: true })).toBe(true);
  expect(isSame({ noCredential: true }, {})).toBe(false);
  expect(isSame({ noCredential: true }, { credential: "sk-1" })).toBe(false);
});

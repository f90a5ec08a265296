import { expect, it } from "vitest";
import { invalidSecret } from "../../../../controller/cluster/kubernetes/secrets/invalid-secret.ts";

const named = (...fields: string[]) => invalidSecret({ status: 422, reason: "Invalid", fields });
const LEFT = "with what something else has left in it";

it.each([
  [["metadata.annotations"], "by metadata.annotations "],
  [["data[username]", "data[password]", "type"], "by data and type "],
  [["metadata.ownerReferences[3].uid"], "by metadata.ownerReferences "],
  [["metadata.labels", "metadata.labels"], "by metadata.labels "],
])("c89: the fields of a Secret that is invalid are named: %s", (fields, says) => {
  expect(named(...fields)).toBe(`the API server finds it invalid ${says}${LEFT}`);
});

it.each([
  [["data[inf_quoted]"], "by data "],
  [["inf_quoted", "database", "metadata.annotationsinf_quoted", ""], ""],
  [[], ""],
])("c89: what is in a field is not: %s", (fields, says) => {
  expect(named(...fields)).toBe(`the API server finds it invalid ${says}${LEFT}`);
});

it.each([
  [422, ""],
  [400, "Invalid"],
  [500, "Invalid"],
  [null, "Invalid"],
])("c89: an answer that is none of its validation, %s %s, refuses nothing for sure", (status, reason) => {
  expect(invalidSecret({ status, reason, fields: ["data"] })).toBeUndefined();
});

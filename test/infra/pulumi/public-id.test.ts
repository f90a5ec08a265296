import { describe, expect, test } from "vitest";
import { diffResource } from "../../../infra/pulumi/provider/diff.ts";
import { type Inputs, RESOURCES } from "../../../infra/pulumi/provider/resources.ts";
import { UNKNOWN } from "../../../infra/pulumi/provider/values.ts";

const kind = RESOURCES.get("keyplane:index:ModelGateway") ?? expect.fail("no ModelGateway");

describe("a gateway whose program comes to give it another public id", () => {
  const oldInputs = { name: "main", team: "research", publicID: "first" };
  const diff = (news: Inputs) => diffResource(kind, { olds: oldInputs, oldInputs, news: { ...oldInputs, ...news } }, 0);

  test("is not to be replaced, which cannot be done: the preview asks for another name", () => {
    expect(() => diff({ publicID: "second" })).toThrow("give the gateway another `name`");
  });

  test("is replaced where it has another name too", () => {
    const { differences, deleteFirst } = diff({ name: "other", publicID: "second" });
    expect(differences.map(({ path, replaces }) => [path, replaces])).toContainEqual(["name", true]);
    expect(deleteFirst).toBe(false);
  });

  test("is not replaced in a preview that does not know the public id yet", () => {
    expect(diff({ publicID: UNKNOWN }).differences).toMatchObject([{ path: "publicID", replaces: false }]);
  });
});

import { expect, test } from "vitest";
import { listAll } from "../../../cli/source/list-all.ts";
import type { ApiClient } from "../../../controller/cluster/kubernetes/api/api-client.ts";

/** An API with a collection of these pages, each of which names the next one. */
function pagesOf(...pages: readonly (readonly string[])[]): Pick<ApiClient, "request"> {
  let asked = 0;
  return {
    request: async ({ query }) => {
      if (asked++ === pages.length) throw new Error("there are no more pages");
      const at = query?.continue === undefined ? 0 : Number(query.continue);
      const more = at + 1 < pages.length ? String(at + 1) : "";
      return {
        metadata: { continue: more },
        items: (pages[at] ?? []).map((name) => ({ name, of: query?.fieldSelector })),
      };
    },
  };
}

test("A collection is read to its last page, each by the same selector", async () => {
  const read = await listAll(pagesOf(["a", "b"], [], ["c"]), "/api", { fieldSelector: "metadata.name=x" });
  expect(read).toEqual(["a", "b", "c"].map((name) => ({ name, of: "metadata.name=x" })));
});

test.each([
  ["has no name for the next page", { metadata: {}, items: ["a"] }],
  ["has no metadata", { items: ["a"] }],
])("A collection that %s ends with it", async (_what, page) => {
  expect(await listAll({ request: async () => page }, "/api")).toEqual(["a"]);
});

test.each([["text"], [null], [{}], [{ items: "a" }]])(
  "%j is no list, and named by where it was read",
  async (answer) => {
    await expect(listAll({ request: async () => answer }, "/api")).rejects.toThrow("/api is no list");
  },
);

import { expect, test } from "vitest";
import { callFunction } from "../../../infra/pulumi/provider/functions.ts";

test("getKey finds a key by its name behind a page of revoked ones of that name, which are listed too", async () => {
  const key = (id: string) => ({ id, name: "ci", spec: {} });
  const first = { items: [{ ...key("key_a"), revocation: {} }], nextCursor: "key_a" };
  const api = {
    send: async (_: string, path: string) => ({
      body: path.endsWith("cursor=key_a") ? { items: [key("key_b")], nextCursor: null } : first,
      ...{ etag: "", replayed: false },
    }),
  };
  expect(await callFunction(api, "keyplane:index:getKey", { name: "ci" })).toMatchObject({ found: { id: "key_b" } });
});

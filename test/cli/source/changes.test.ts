import { expect, test } from "vitest";
import { changesOf } from "../../../cli/source/changes.ts";
import { watchObjects } from "../../../cli/source/watch-objects.ts";
import type { ApiClient } from "../../../controller/cluster/kubernetes/api/api-client.ts";

test("what a watch has reported since the last time is one change, and the changes end with the watch", async () => {
  const ended = Promise.withResolvers<void>();
  let notify = () => {};
  const changes = changesOf((report) => {
    notify = report;
    return ended.promise;
  });
  const first = changes.next();
  notify();
  notify();
  expect(await first).toEqual({ done: false, value: undefined });
  const second = changes.next();
  ended.resolve();
  expect(await second).toEqual({ done: true, value: undefined });
});

test("changes fail as their watch does", async () => {
  await expect(changesOf(() => Promise.reject(new Error("away"))).next()).rejects.toThrow("away");
});

test("a watch begins where the list is, is opened again when it ends, and reports what may have been missed", async () => {
  const stop = new AbortController();
  const asked: (string | undefined)[] = [];
  let reported = 0;
  const api: Pick<ApiClient, "request" | "stream"> = {
    request: async () => ({ metadata: { resourceVersion: String(asked.length + 1) } }),
    async stream({ query }, _fresh, { onValue }) {
      asked.push(query?.resourceVersion);
      onValue({ type: "MODIFIED" });
      if (asked.length === 3) stop.abort();
    },
  };
  await watchObjects(api, "/apis/x", {}, () => void reported++, stop.signal);
  expect([asked, reported]).toEqual([["1", "2", "3"], 6]);
});

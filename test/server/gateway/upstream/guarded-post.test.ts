import { BlockList } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { openGuardedPosts } from "../../../../server/gateway/upstream/guarded-post.ts";
import { startReceiver } from "../../webhooks/receiver.ts";

test("b101: a team whose names are never looked up to their end keeps no other team's webhook from its own", async () => {
  const receiver = await startReceiver();
  onTestFinished(receiver.close);
  const asked: string[] = [];
  const posts = openGuardedPosts(new BlockList(), 60_000, () => ({
    allows: () => true,
    lookup(hostname, options, callback) {
      asked.push(hostname);
      if (hostname.startsWith("slow")) return;
      if (options.all) callback(null, [{ address: "127.0.0.1", family: 4 }]);
      else callback(null, "127.0.0.1", 4);
    },
  }));
  onTestFinished(posts.close);
  const leaving = new AbortController();
  const post = (holder: string, host: string) =>
    posts.post({ holder, url: new URL(`http://${host}:${receiver.port}/`), headers: {}, body: "{}" }, leaving.signal);
  const stuck = ["slow1.test", "slow2.test", "slow3.test", "slow4.test"].map((host) => post("hostile", host));
  expect(await post("other", "quick.test")).toEqual({ status: 204 });
  expect(asked).toEqual(["slow1.test", "quick.test"]);
  leaving.abort();
  await Promise.all(stuck);
});

/** A change whose answer is lost on the way back: its repetition meets an entity tag that is its own. */
import { expect, it } from "vitest";
import { ModelGateway, PlatformKey } from "../../../infra/pulumi/resources.ts";
import { NIGHTLY } from "../../env/nightly.ts";
import { describeOnPulumi } from "../../env/pulumi.ts";
import { startApiProxy } from "./api-proxy.ts";

describeOnPulumi("a change whose answer is lost", ({ makeStack, manage, url }) => {
  const lost = [
    ["busy answered", "lost-busy"],
    ["breaks answered", "lost-broken"],
  ] as const;
  it.each(lost.slice(NIGHTLY ? 0 : 1))(
    "b199: is known again, and no other client's is undone: %s",
    async (fate, team) => {
      const proxy = await startApiProxy(url);
      await manage("POST", "teams", { name: team, spec: {} });
      let displayName = "first";
      let credential = "sk-first";
      const made = await makeStack(
        async () => {
          const { keyID } = new PlatformKey("key", { team, name: "key", preset: "MCPReadOnly", displayName });
          const upstream = { name: "one", dialect: "openai", baseURL: "https://api.example.com", credential } as const;
          new ModelGateway("gateway", { team, name: "gateway", upstreams: [upstream] });
          return { keyID };
        },
        { env: { KEYPLANE_URL: proxy.url }, project: team },
      );
      await made.stack.up();

      const put: string[] = [];
      const loseFirst = () => {
        put.length = 0;
        proxy.watch(({ method, path }) => {
          if (method !== "PUT") return "passes";
          const isFirst = !put.includes(path);
          put.push(path);
          return isFirst ? fate : "passes";
        });
      };
      const keys = async () => (await manage("GET", `keys?team=${team}`)).body.items;
      displayName = "second";
      credential = "sk-second";
      loseFirst();
      const changed = await made.try(made.stack.up());
      expect(changed.failed, changed.out).toBe(false);
      expect(new Set(put).size).toBe(2);
      expect(await keys()).toMatchObject([{ spec: { displayName } }]);
      expect((await made.stack.preview()).changeSummary).toEqual({ same: 3 });

      // What another client makes of it in between stays.
      displayName = "third";
      loseFirst();
      proxy.onAnswer(async ({ method, path }) => {
        if (method === "PUT" && put.length === 1 && path.startsWith("keys/")) {
          await manage("PUT", path, { spec: { preset: "MCPReadWrite" } });
        }
      });
      const refused = await made.try(made.stack.up());
      expect(refused).toMatchObject({ failed: true, out: expect.stringContaining("another client has changed it") });
      expect(await keys()).toMatchObject([{ spec: { preset: "MCPReadWrite" } }]);
      await proxy.close();
    },
  );
});

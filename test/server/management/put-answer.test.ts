import { afterEach, beforeEach, expect, test } from "vitest";
import { managementToken } from "../../../server/auth/management/management-token.ts";
import { managementRoutes } from "../../../server/management/routes.ts";
import { deregisterReplica, registerReplica } from "../../../store/replicas/replicas.ts";
import { describeOnEitherEngine } from "../../env/database/engines.ts";
import { until } from "../../env/until.ts";
import { unique } from "../../store/fixtures.ts";
import { type Harness, startHarness } from "../harness.ts";
import { ask } from "./api.ts";

const TOKEN = "kpt_the-token-of-this-installation";
const UPSTREAM = { name: "u", dialect: "openai", noCredential: true };

describeOnEitherEngine("A PUT that waits for a silent replica while another client changes the object", (store) => {
  let harness: Harness;
  beforeEach(async () => {
    harness = await startHarness({
      mounts: [{ at: "/api/v1", routes: managementRoutes }],
      store: store(),
      managementToken: managementToken("bootstrap-token", TOKEN),
    });
  });
  afterEach(() => harness.close());

  const send = (method: string, path: string, body?: object, headers?: Record<string, string>) =>
    ask(harness.url, TOKEN, method, path, body, headers);
  const etagOf = ({ headers }: { readonly headers: Headers }) => headers.get("etag") ?? "";
  const put = (path: string, spec: object, etag: string) => send("PUT", path, { spec }, { "if-match": etag });

  // Each changes what servers decide by, so that the answer waits for them.
  test.each([
    ["keys", (word: string) => ({ preset: "GatewayDefault", allowedModels: [word] })],
    ["teams", (word: string) => ({ members: [{ role: "viewer", subject: word }] })],
    ["gateways", (word: string) => ({ upstreams: [{ ...UPSTREAM, baseURL: `https://${word}.example` }], routes: [] })],
  ])("b478: answers of %s what it has stored, with that entity tag", async (kind, named) => {
    const team = unique("team");
    if (kind !== "teams") await send("POST", "/teams", { name: team, spec: {} });
    const home = kind === "teams" ? {} : { team };
    const made = await send("POST", `/${kind}`, { name: unique("made"), ...home, spec: named("made") });
    const path = `/${kind}/${made.body.id}`;
    const stored = (text: string) =>
      until(`${text} is stored`, async () => {
        const found = await send("GET", path);
        return found.text.includes(text) ? found : undefined;
      });
    // The server's clock stands still: it waits for as long as this replica is there.
    await registerReplica(store(), "silent");
    const putting = put(path, named("first"), etagOf(made));
    const first = await stored("first");
    const others = put(path, named("second"), etagOf(first));
    const second = await stored("second");
    await deregisterReplica(store(), "silent");
    const [answer, answerToOther] = [await putting, await others];
    expect([answer.status, answer.body.spec, etagOf(answer)]).toEqual([200, first.body.spec, etagOf(first)]);
    expect([answerToOther.status, etagOf(answerToOther)]).toEqual([200, etagOf(second)]);
    expect((await put(path, named("third"), etagOf(answer))).status).toBe(412);
  });
});

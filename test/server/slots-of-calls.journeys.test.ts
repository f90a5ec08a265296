import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { setTimeout } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type RunningServer, startServer } from "../../processes/main.ts";
import { systemClock } from "../../runtime/clock.ts";
import { createLog } from "../../runtime/log.ts";
import { parseServerConfig } from "../../server/context/config.ts";
import { saveGateway } from "../../store/gateways/gateways.ts";
import { databaseUrl, describeOnPostgres } from "../env/database/engines.ts";
import { NIGHTLY } from "../env/nightly.ts";
import { until } from "../env/until.ts";
import { gatewayDraft, makeTeam, policyOf, run, unique } from "../store/fixtures.ts";
import { keyring, storeKey } from "./key-index/replica-fixtures.ts";

/** More than the storm has at once, so that nothing is refused before it is let through. */
const [OF_ROUTE, OF_KEY, OF_TEAM] = [3, 4, 5];

describeOnPostgres("two worker threads whose calls end in every way", (store) => {
  let server: RunningServer;
  let publicId: string;
  let keys: readonly string[];
  let isQuiet = false;
  let calls = 0;
  const upstream = createServer((request, response) => {
    request.on("error", () => {});
    request.resume();
    const way = isQuiet ? 0 : calls++ % 5;
    const stream = { "content-type": "text/event-stream" };
    if (way === 0) response.writeHead(200, stream).write("data: 1\n\n");
    else if (way === 1) response.writeHead(500).end("{}");
    else if (way === 2) response.destroy();
    else if (way === 3) response.writeHead(200, stream).write("data: 1\n\n", () => response.destroy());
    else response.writeHead(200, { "content-length": 100 }).end("{}");
  });
  beforeAll(async () => {
    await new Promise<void>((resolve) => upstream.listen(0, "127.0.0.1", resolve));
    const team = await makeTeam(store(), { limits: { rate: null, concurrent: OF_TEAM } });
    publicId = unique("public");
    const baseUrl = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`;
    const upstreams = [{ name: "openai", dialect: "openai", baseUrl, credential: "sk-provider" }] as const;
    const route = { upstream: "openai", upstreamModel: "real", fallbacks: [] };
    const routes = [
      { ...route, model: "bounded", routeId: "bounded", rateLimit: { concurrent: OF_ROUTE } },
      { ...route, model: "free", routeId: "free" },
    ];
    await run(store(), (tx) => saveGateway(tx, gatewayDraft(team, { publicId, upstreams, routes }), keyring));
    const policy = policyOf({ scopes: ["gateway:generate", "gateway:routes"], concurrent: OF_KEY });
    keys = (await Promise.all([1, 2].map(() => storeKey(store(), team, { policy })))).map(({ plaintext }) => plaintext);
    server = await startServer({
      store: store(),
      database: { url: (await databaseUrl(store())).href },
      config: parseServerConfig({}, { port: "0", adminPort: "0", workers: "2", allowPrivateUpstreams: "127.0.0.0/8" }),
      ...{ keyring, clock: systemClock, log: createLog("silent"), graceMs: 5_000 },
    });
    await server.whenCurrent;
  });
  afterAll(async () => {
    await server.close();
    upstream.closeAllConnections();
    upstream.close();
  });

  const request = (key: string, body: string, length = body.length) =>
    `POST /g/${publicId}/v1/chat/completions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n` +
    `Content-Type: application/json\r\nContent-Length: ${length}\r\n\r\n${body}`;

  /** One connection that sends this, and is left in a way and at a time of the number's. */
  async function leave(number: number): Promise<void> {
    const key = keys[number % 2] ?? "";
    const whole = request(key, `{"model":"${number % 3 === 0 ? "free" : "bounded"}"}`);
    const texts = [whole, whole.slice(0, -5), whole.slice(0, 90), whole.repeat(5), `${whole}GARBAGE\r\n\r\n`];
    const socket = connect(Number(new URL(server.url).port), "127.0.0.1");
    socket.on("error", () => {});
    const answered = new Promise((resolve) => socket.once("data", resolve).once("close", resolve));
    socket.write(texts[number % texts.length] ?? "");
    if (number % 4 === 0) await Promise.race([answered, setTimeout(50)]);
    else await setTimeout(number % 7);
    if (number % 3 === 1) socket.resetAndDestroy();
    else socket.destroy();
  }

  const open = (key: string, model: string) =>
    fetch(`${server.url}/g/${publicId}/v1/chat/completions`, {
      ...{ method: "POST", body: JSON.stringify({ model }) },
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json", connection: "close" },
    });

  test("b124: no place of a key, a team or a route stays taken, and none is free twice", async () => {
    const [one = "", other = ""] = keys;
    await until("both threads know the key", async () => {
      const answers = await Promise.all(Array.from({ length: 20 }, () => open(one, "none")));
      await Promise.all(answers.map(({ body }) => body?.cancel()));
      return answers.every(({ status }) => status !== 401);
    });
    for (let round = 0; round < (NIGHTLY ? 40 : 11); round++) {
      await Promise.all(Array.from({ length: 40 }, (_, i) => leave(round * 41 + i)));
    }
    isQuiet = true;
    await until("all calls have ended", async () =>
      /^keyplane_open_calls 0$/m.test(await (await fetch(`${server.adminUrl}/metrics`)).text()),
    );
    const kept: Response[] = [];
    /** What of the storm the server has yet to read is over soon: a place that it has taken again is free then. */
    const begin = (key: string, model: string) =>
      until("there is a place", async () => {
        const answer = await open(key, model);
        if (answer.status === 200) kept.push(answer);
        else await answer.body?.cancel();
        return answer.status === 200;
      });
    const refuse = async (key: string, model: string) => {
      const answer = await open(key, model);
      kept.push(answer);
      expect(answer.status).toBe(429);
    };
    for (const key of [one, one, other]) await begin(key, "bounded");
    await refuse(one, "bounded");
    for (const key of [one, one]) await begin(key, "free");
    for (const key of [one, other]) await refuse(key, "free");
    await Promise.all(kept.map(({ body }) => body?.cancel()));
  });
});

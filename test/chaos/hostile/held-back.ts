/** Calls whose last byte is held back until their key has been revoked, with a receipt: none of them may have an effect. */
import { setTimeout as delay } from "node:timers/promises";
import { until } from "../../env/until.ts";
import type { Report } from "../../oracle/report.ts";
import type { Installation, Replica } from "./installation.ts";
import { MARK, type OwnUpstream } from "./own-upstream.ts";
import { headOf, RawCall } from "./raw-call.ts";
import { GATEWAYS, LIBRARY, MODEL } from "./tenants.ts";

/** Between two rounds, and between a round's heads and the revocation of its key. */
const ROUND_MS = 1_500;
const BEFORE_REVOCATION_MS = 500;
/** How long an answer to a call that was completed late is waited for. */
const PATIENCE_MS = 30_000;

type HeldCall = { readonly mark: string; readonly what: string; readonly call: RawCall; readonly last: string };

export type HeldBack = {
  /** How many calls were held back, by what came of them. */
  readonly outcomes: ReadonlyMap<string, number>;
  /** Resolves once the last round is judged. */
  readonly done: Promise<void>;
};

export type HeldBackOptions = {
  readonly installation: Installation;
  readonly upstream: OwnUpstream;
  /** A key of the hostile team that lists its atoms. */
  readonly reader: string;
  readonly report: Report;
};

export function startHeldBack(
  { installation, upstream, reader, report }: HeldBackOptions,
  signal: AbortSignal,
): HeldBack {
  const outcomes = new Map<string, number>();

  async function round(number: number): Promise<void> {
    const key = await installation.makeKey("hostile");
    const held = installation.replicas.flatMap((replica) => open(replica, key.plaintext, `held-${number}`));
    await Promise.all(held.map(({ call, body, last, head }) => call.write(head + body.slice(0, -last.length))));
    await delay(BEFORE_REVOCATION_MS);
    const { confirmed } = await installation.revoke(key);
    await confirmed;
    const confirmedAt = performance.now();
    await Promise.all(held.map(({ call, last }) => call.write(last)));
    await Promise.all(held.map((one) => judge(one, confirmedAt)));
  }

  /** Neither an answer that lets it in, nor anything at the upstream: a call that streams has been broken off. */
  async function judge({ mark, what, call }: HeldCall, confirmedAt: number): Promise<void> {
    const patience = delay(PATIENCE_MS, "patience" as const);
    const answered = until("an answer", () => call.status !== undefined || call.isClosed, { timeoutMs: PATIENCE_MS });
    await Promise.race([answered.catch(() => {}), patience]);
    const outcome = call.status === undefined ? (call.isClosed ? "cut" : "never answered") : String(call.status);
    call.leave();
    outcomes.set(`${what}: ${outcome}`, (outcomes.get(`${what}: ${outcome}`) ?? 0) + 1);
    const violation = (wrong: string) => report.violation({ rule: "b81", subject: what, what: wrong });
    if (/^2|never/.test(outcome)) violation(`held back until its key was refused everywhere, it was ${outcome}`);
    const head = upstream.heads.get(mark);
    if (head !== undefined && head > confirmedAt) violation("the upstream was asked after the receipt");
    if (upstream.ends.has(mark)) violation("the upstream got the whole of it after the receipt");
  }

  /** Asked once the attacks are over, when the hostile team's own reader is answered again. */
  async function noRows(tag: string): Promise<void> {
    const [replica] = installation.replicas;
    const items = await until("the atoms of a held-back call are listed", async () => {
      const answer = await fetch(`${replica?.url}/atoms?tag=${tag}`, {
        headers: { authorization: `Bearer ${reader}` },
      });
      const text = await answer.text();
      return answer.status === 200 ? text : undefined;
    });
    if (!items.includes('"items":[]'))
      report.violation({ rule: "b81", subject: "atoms", what: `one was written: ${tag}` });
  }

  async function run(): Promise<void> {
    let number = 0;
    for (; !signal.aborted; number++) {
      await round(number).catch((error: unknown) =>
        report.violation({ rule: "others", subject: "keys of held-back calls", what: String(error).slice(0, 200) }),
      );
      await delay(ROUND_MS, undefined, { signal }).catch(() => {});
    }
    for (let of = 0; of < number; of++) await noRows(`held-${of}`);
  }

  return { outcomes, done: run() };
}

type Opened = HeldCall & { readonly head: string; readonly body: string };

/** A call of each kind that has an effect. */
function open(replica: Replica, key: string, tag: string): Opened[] {
  const atom = { content: "everywhere held back", tags: [tag], library: LIBRARY };
  const save = { name: "memory_save_atom", arguments: { ...atom, allowDuplicate: true } };
  const chat = { model: MODEL, messages: [{ role: "user", content: "held back" }] };
  const kinds: readonly (readonly [what: string, path: string, body: unknown])[] = [
    ["POST /atoms", "/atoms", atom],
    ["MCP write", "/api/v1/memory/mcp", { jsonrpc: "2.0", id: 1, method: "tools/call", params: save }],
    ["gateway with routes", `/g/${GATEWAYS.held.routes}/v1/chat/completions`, chat],
    ["gateway that streams", `/g/${GATEWAYS.held.plain}/v1/chat/completions`, chat],
  ];
  return kinds.map(([what, path, json]) => {
    const mark = `${tag}-${replica.name}-${what.replaceAll(" ", "-")}`;
    const body = JSON.stringify(json);
    const head = headOf(replica.url, path, {
      authorization: `Bearer ${key}`,
      accept: "application/json, text/event-stream",
      "content-type": "application/json",
      "content-length": Buffer.byteLength(body),
      [MARK]: mark,
    });
    return { mark, what, call: new RawCall(replica.url), head, body, last: body.slice(-1) };
  });
}

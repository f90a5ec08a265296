import { connect } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { type Contestant, cpuMicroseconds } from "./processes.ts";
import { figure, median, quantile, table } from "./table.ts";
import { callBytes } from "./traffic.ts";

/** An event as a model's deltas are, 240 bytes, that says when it was written: the clock is the machine's. */
export function eventAt(nanoseconds: bigint): string {
  const event = `data: {"at":"${nanoseconds}","choices":[{"index":0,"delta":{"content":"`;
  return `${event}${"x".repeat(240 - event.length - 8)}"}}]}\n\n`;
}

/** One stream as its client saw it, in microseconds. */
type StreamTimes = {
  /** From the call to the first event. */
  readonly first: number;
  /** From the writing of each event to its arrival. */
  readonly delays: readonly number[];
  /** Its last bytes, for when it is not what it should be. */
  readonly tail: string;
};

/** Opens a stream on a connection of its own, and reads it to its end. */
function readStream(port: number, key: string, path: string): Promise<StreamTimes> {
  const { promise, resolve, reject } = Promise.withResolvers<StreamTimes>();
  const socket = connect({ port, host: "127.0.0.1", noDelay: true });
  const delays: number[] = [];
  let sentAt = 0n;
  let first = Number.NaN;
  let rest = "";
  socket.setEncoding("latin1");
  socket.once("connect", () => {
    sentAt = process.hrtime.bigint();
    socket.write(callBytes(port, key, path));
  });
  socket.on("data", (text: string) => {
    const now = process.hrtime.bigint();
    rest += text;
    for (const [, at = "0"] of rest.matchAll(/"at":"(\d+)"/g)) {
      if (delays.length === 0) first = Number(now - sentAt) / 1_000;
      delays.push(Number(now - BigInt(at)) / 1_000);
    }
    rest = rest.slice(rest.lastIndexOf("\n\n") + 1);
    // The last chunk of the chunked coding.
    if (!text.endsWith("0\r\n\r\n")) return;
    resolve({ first, delays, tail: text.slice(-300) });
    socket.destroy();
  });
  socket.setTimeout(10_000, () => socket.destroy(new Error("the stream fell silent")));
  socket.once("error", reject);
  socket.once("close", () => reject(new Error("the stream was broken")));
  return promise;
}

/** Until the compilers are done with what is hot. */
const WARM_UP_STREAMS = 400;
const SHORT_STREAMS = 400;
const LONG_STREAMS = 20;
const EVENTS = 64;
/** Milliseconds between two events. */
const PACE = 5;

/** Where streams can be had: the upstream itself first. */
export type StreamSource = { readonly name: string; readonly port: number; readonly path: string };

/** Measures the first event of short streams, and the delay of each event of long ones, one stream after the other. */
export async function measureStreams([direct, ...others]: readonly StreamSource[], key: string): Promise<string> {
  if (direct === undefined) throw new Error("there is nothing to measure");
  const straight = await measureSource(direct, key);
  const rows = [[direct.name, ...shown(straight), "", "", "", ""]];
  for (const source of others) {
    const through = await measureSource(source, key);
    const added = (a: readonly number[], b: readonly number[], share: number) =>
      figure(quantile(a, share) - quantile(b, share));
    rows.push([
      source.name,
      ...shown(through),
      added(through.firsts, straight.firsts, 0.5),
      added(through.firsts, straight.firsts, 0.99),
      added(through.delays, straight.delays, 0.5),
      added(through.delays, straight.delays, 0.99),
    ]);
  }
  const columns = ["first event p50", "p99", "an event p50", "p99", "added: first p50", "p99", "event p50", "p99"];
  return table([`streams of ${EVENTS} events, us`, ...columns], rows);
}

type Measured = { readonly firsts: readonly number[]; readonly delays: readonly number[] };

async function measureSource({ name, port, path }: StreamSource, key: string): Promise<Measured> {
  const firsts: number[] = [];
  const delays: number[] = [];
  for (let i = 0; i < WARM_UP_STREAMS; i++) await readStream(port, key, `${path}?events=1`);
  for (let i = 0; i < SHORT_STREAMS; i++) firsts.push((await readStream(port, key, `${path}?events=1`)).first);
  for (let i = 0; i < LONG_STREAMS; i++) {
    const seen = await readStream(port, key, `${path}?events=${EVENTS}&pace=${PACE}`);
    if (seen.delays.length !== EVENTS) {
      throw new Error(`${name}: a stream ended with ${seen.delays.length} of ${EVENTS} events: ${seen.tail}`);
    }
    delays.push(...seen.delays);
  }
  return { firsts, delays };
}

function shown({ firsts, delays }: Measured): string[] {
  return [median(firsts), quantile(firsts, 0.99), median(delays), quantile(delays, 0.99)].map((value) => figure(value));
}

/**
 * How many streams are open at once: each of these in turn, and each stream of this many events for each second. An
 * upstream is asked for no more at a time.
 */
const OPEN_STREAMS = [64, 128, 256, 512];
const EVENTS_PER_SECOND = 50;
const CAPACITY_EVENTS = 250;

/** Measures how many streams at a model's pace one process carries: what it costs, and how late the events become. */
export async function measureCapacity(
  { port, pid }: Contestant,
  path: string,
  keys: readonly string[],
): Promise<string> {
  const pace = 1_000 / EVENTS_PER_SECOND;
  const rows: string[][] = [];
  for (const streams of OPEN_STREAMS) {
    const [startedAt, before] = [performance.now(), cpuMicroseconds(pid)];
    const seen = await Promise.all(
      Array.from({ length: streams }, async (_, i) => {
        // Spread over the pace, as callers are.
        await delay((i * pace) / streams);
        // Of each key a stream, as far as there are keys: one key may have only so many open.
        return readStream(port, keys[i % keys.length] ?? "", `${path}?events=${CAPACITY_EVENTS}&pace=${pace}`);
      }),
    );
    const seconds = (performance.now() - startedAt) / 1_000;
    const busy = (cpuMicroseconds(pid) - before) / seconds / 1e6;
    const delays = seen.flatMap((stream) => stream.delays);
    const lost = streams * CAPACITY_EVENTS - delays.length;
    rows.push([
      figure(streams),
      figure(delays.length / seconds),
      figure(lost),
      figure(busy * 100),
      figure(median(delays) / 1_000, 1),
      figure(quantile(delays, 0.99) / 1_000, 1),
    ]);
  }
  const columns = ["events/s", "lost", "CPU, % of a core", "an event's delay ms, p50", "p99"];
  return table([`open streams of ${EVENTS_PER_SECOND} events a second`, ...columns], rows);
}

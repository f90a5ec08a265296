/** Calls of an upstream as its operations read them, and objects as providers describe them. */
import type { KeptKind, ServedOperation } from "../../../../domain/access/gateway-operations.ts";
import type { Dialect } from "../../../../domain/access/key-record.ts";
import { classify } from "../../../../server/gateway/classify.ts";
import type { Received } from "../upstream.ts";
import type { KeptWorld, Thing } from "./kept-world.ts";

/** Fault of the answer to a call; what the call has asked for is done all the same, but by one that is refused. */
export const FAULTS = ["refused", "error", "broken", "cut", "empty", "repeated", "unrecorded"] as const;
export type Fault = (typeof FAULTS)[number];

export type Answer = {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly json?: object;
  readonly text?: string;
};

/** Header of a client by which the model knows for whom an upstream is asked. */
export const TEAM_HEADER = "x-asked-for";
/** Header of a client with the ids of other teams that it may name, as they are confined to an object of its own. */
export const CONFINED_HEADER = "x-confined";

/** Request of an upstream, as its operation reads it. */
export class Asked {
  readonly world: KeptWorld;
  readonly place: number;
  readonly operation: ServedOperation;
  readonly dialect: Dialect;
  readonly names: readonly string[];
  readonly query: URLSearchParams;
  readonly received: Received;
  readonly text: string;

  readonly fault: Fault | undefined;

  constructor(
    world: KeptWorld,
    place: number,
    url: string,
    received: Received,
    onFault: (team: string, operation: ServedOperation) => Fault | undefined,
  ) {
    const { pathname, searchParams } = new URL(received.url, url);
    const call = classify(received.method, pathname.slice(1));
    if (call === undefined) throw new Error(`the upstream was asked for ${received.method} ${received.url}`);
    this.world = world;
    this.place = place;
    this.operation = call.operation;
    this.dialect = call.dialect ?? (received.headers["anthropic-version"] === undefined ? "openai" : "anthropic");
    this.names = call.names;
    this.query = searchParams;
    this.received = received;
    this.text = received.body.toString("latin1");
    this.fault = onFault(this.team, this.operation);
  }

  get team(): string {
    return String(this.received.headers[TEAM_HEADER]);
  }

  get said(): Readonly<Record<string, unknown>> {
    return this.text === "" ? {} : JSON.parse(this.text);
  }

  /** Marks of what the body says and names. */
  get read(): string {
    return this.world.readAt(this.place, decodeJson(this.text));
  }

  make(kind: KeptKind, fields: Partial<Thing> = {}): Thing {
    const { world, dialect, team, place, read: marks } = this;
    const twin = this.fault === "repeated" && fields.isGone !== true ? this.#twinOf(kind) : undefined;
    if (twin !== undefined) {
      twin.isGivenTwice = true;
      return { ...twin, team, marks, inner: [], ...fields };
    }
    const isDoubtful = kind === "item" && this.fault !== undefined;
    return world.make({ kind, dialect, team, place, marks, isDoubtful, ...fields });
  }

  /** Returns another team's object, whose id an upstream may give a second time. */
  #twinOf(kind: KeptKind): Thing | undefined {
    if (kind === "item" || kind === "output") return undefined;
    return this.all(kind).find((thing) => thing.team !== this.team && thing.isShown);
  }

  /** @throws MISSING unless the object is there, of one of the kinds */
  find(id: string | undefined, ...kinds: readonly KeptKind[]): Thing {
    const thing = this.world.things.get(id ?? "");
    const isThere =
      thing !== undefined && thing.place === this.place && thing.dialect === this.dialect && !thing.isGone;
    if (!isThere || !kinds.includes(thing.kind)) throw MISSING;
    return thing;
  }

  all(...kinds: readonly KeptKind[]): Thing[] {
    const { things } = this.world;
    const isOne = ({ kind, dialect, place, isGone }: Thing) =>
      kinds.includes(kind) && dialect === this.dialect && place === this.place && !isGone;
    return [...things.values()].filter(isOne);
  }

  list(things: readonly Thing[], collection = ""): Answer {
    const { query, dialect } = this;
    const token = query.get("pageToken") ?? query.get("page");
    const after = token === null ? (query.get("after") ?? query.get("after_id")) : fromToken(token);
    const from = things.findIndex(({ id }) => id === after) + 1;
    const page = things.slice(from, from + Number(query.get("limit") ?? query.get("pageSize") ?? 20));
    const last = page.at(-1)?.id ?? null;
    const hasMore = from + page.length < things.length;
    const next = hasMore && last !== null ? Buffer.from(last).toString("base64url") : undefined;
    if (dialect === "gemini") return { json: { [collection]: page.map(shown), nextPageToken: next } };
    if (collection === "pages") return { json: { data: page.map(shown), next_page: next ?? null } };
    const ends = { first_id: page[0]?.id ?? null, last_id: last, has_more: hasMore };
    return { json: { object: "list", data: page.map(shown), ...ends } };
  }

  /** Ends an object. */
  remove(thing: Thing): Answer {
    this.world.end(thing);
    return { json: this.dialect === "gemini" ? {} : { id: thing.id, deleted: true } };
  }
}

export const MISSING = new Error("no such object");

function fromToken(token: string): string {
  return Buffer.from(token, "base64url").toString();
}

/** Returns a text as JSON with its escapes decoded, where it is JSON. */
export function decodeJson(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text));
  } catch {
    return text;
  }
}

/** Returns an object as its provider describes it. */
export function shown({ id, kind, dialect, marks, inner, content, parent }: Thing): object {
  const outputs = inner.map((one) => one.id);
  switch (`${dialect} ${kind}`) {
    case "openai response":
      return {
        id,
        object: "response",
        status: "completed",
        model: "m",
        output: inner.filter((one) => !one.isInput).map(shown),
      };
    case "openai conversation":
      return { id, object: "conversation", metadata: { marks } };
    case "openai item":
      return { id, type: "message", role: "assistant", content: [{ type: "output_text", text: marks }] };
    case "openai batch":
      return {
        id,
        object: "batch",
        metadata: { marks },
        output_file_id: outputs[0] ?? null,
        error_file_id: outputs[1] ?? null,
      };
    case "openai upload":
      return {
        id,
        object: "upload",
        filename: marks,
        expires_at: Math.floor(Date.now() / 1_000) + 3_600,
        status: "pending",
      };
    case "openai part":
      return { id, object: "upload.part", upload_id: parent?.id };
    case "anthropic batch":
      return {
        id,
        type: "message_batch",
        processing_status: "ended",
        results_url: `http://upstream.test/v1/messages/batches/${id}/results`,
      };
    case "gemini file":
    case "gemini output":
      return {
        name: `files/${id}`,
        displayName: marks,
        uri: `https://generativelanguage.googleapis.com/v1beta/files/${id}`,
      };
    case "gemini cache":
      return {
        name: `cachedContents/${id}`,
        displayName: marks,
        model: "models/g",
        usageMetadata: { totalTokenCount: 3 },
      };
    case "gemini batch": {
      const output = outputs[0] === undefined ? inlined(content) : { responsesFile: `files/${outputs[0]}` };
      return { name: `batches/${id}`, done: true, metadata: { displayName: marks, output }, response: output };
    }
    default:
      return { id, name: marks, filename: marks, object: kind, created_at: 1 };
  }
}

function inlined(text: string): object {
  return {
    inlinedResponses: {
      inlinedResponses: [{ response: { candidates: [text], usageMetadata: { promptTokenCount: 2 } } }],
    },
  };
}

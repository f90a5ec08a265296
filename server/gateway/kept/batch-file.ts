import { permits } from "../../../domain/access/authorize.ts";
import {
  GATEWAY_OPERATIONS,
  SERVED_OPERATIONS,
  type ServedOperation,
} from "../../../domain/access/gateway-operations.ts";
import type { GatewayRecord, KeyRecord, UpstreamRecord } from "../../../domain/access/key-record.ts";
import { inSlices } from "../../http/bodies/slices.ts";
import { listed } from "../../http/listed.ts";
import { type Problem, problem } from "../../http/problems/problem.ts";
import { IN_FILE } from "../model/model-members.ts";
import { ModelScan } from "../model/model-scan.ts";
import { requireNoModel } from "../query.ts";
import { isSameUpstream, type Resolved } from "../resolve.ts";
import { BatchLines, openaiLine } from "./batch-lines.ts";
import { MemberValues } from "./member-values.ts";
import type { KeptReference, ReadId } from "./reference-scan.ts";
import type { AnswerReading, UpstreamRead } from "./whole-answer.ts";

/** Operations that the lines of a batch may ask for, by their paths. */
const ENDPOINTS: ReadonlyMap<string, ServedOperation> = new Map(
  SERVED_OPERATIONS.filter((operation) => GATEWAY_OPERATIONS[operation].isBatched).flatMap((operation) =>
    GATEWAY_OPERATIONS[operation].served.map(({ path }) => [`/${path}`, operation] as const),
  ),
);
/** Pattern of a file's id, as a segment of a path. */
const ID = /^(?!\.{1,2}$)[\w.~=-]{1,256}$/;

/** Facts that the requests of a batch are held to. */
export type BatchHolding = {
  /** Returns the problem to answer if the caller may not call an operation here. */
  readonly refuse: (operation: ServedOperation) => Problem | undefined;
  /** True if models matter: then all lines name one. */
  readonly readsModels: boolean;
  /** Makes room for so many bytes more; returns the problem to answer if there is none. */
  readonly reserve: (bytes: number) => Problem | undefined;
  /** Decides the call by the model that its lines name; returns the problem to answer if it may not go on. */
  readonly decide: () => Problem | undefined;
};

export type FileDeps = BatchHolding & {
  /** Reads the id of an object that a line names; undefined if each text is one. */
  readonly readId: ReadId | undefined;
  /** Query to ask with once the file was read. */
  readonly query: string;
  /** Returns the problem to answer unless all objects are the team's, at an upstream. */
  readonly hold: (upstream: UpstreamRecord, references: readonly KeptReference[]) => Promise<Problem | undefined>;
  /** Called once the file was read to its end. */
  readonly onRead: () => void;
};

/** Requests of a batch that is about to begin. */
export type BatchFile = {
  /** Reading of the file in which they stand, before the batch begins; undefined if they stand in the body. */
  readonly before: UpstreamRead | undefined;
  /** Returns the problem to answer if they may not go where the model of the path leads; left out if that has none. */
  readonly refusalAt?: (resolved: Resolved) => Problem | undefined;
  /** Returns the model that its lines name, if they were read for it; undefined until the file was read. */
  readonly read: () => { readonly model: string | undefined } | undefined;
};

/**
 * Finds what a batch is to ask, by its body; the file is still to be read.
 *
 * @param references objects that the body names
 * @throws Problem or BodyFault for a body that can be read in two ways
 */
export async function batchFile(
  text: Buffer,
  query: string,
  references: readonly KeptReference[],
  { refuse, readsModels, reserve, readId, ...deps }: FileDeps,
): Promise<BatchFile | Problem> {
  requireNoModel(query);
  const scan = new ModelScan(text, IN_FILE);
  await inSlices((steps) => scan.run(steps));
  const members = new MemberValues(text);
  await inSlices((steps) => members.run(steps));
  const [file, ...others] = references;
  if (file === undefined || others.length > 0 || !ID.test(file.id)) return NO_FILE;
  if (members.text("input_file_id") !== file.id) return NO_FILE;
  const endpoint = members.text("endpoint") ?? "";
  const operation = ENDPOINTS.get(endpoint);
  if (operation === undefined) return OTHER_ENDPOINT;
  const refusal = refuse(operation);
  if (refusal !== undefined) return refusal;
  const lines = new BatchLines({ ...openaiLine(endpoint), operation, readId, readsModels, reserve });
  return {
    read: () => (lines.isWhole ? { model: lines.model } : undefined),
    before: {
      path: { version: "v1", before: `/files/${encodeURIComponent(file.id)}/content`, after: "" },
      reading: readingOfLines(lines, { refuse: () => refuse(operation), ...deps }),
    },
  };
}

type ReadingDeps = Pick<FileDeps, "decide" | "query" | "hold" | "onRead"> & {
  /** Returns the problem to answer if the caller may not call what the lines ask for. */
  readonly refuse: () => Problem | undefined;
};

/** Reads a batch's file to its end before the batch begins, and holds its lines to the key. */
export function readingOfLines(lines: BatchLines, { refuse, decide, query, hold, onRead }: ReadingDeps): AnswerReading {
  return {
    push: (piece) => lines.push(piece),
    async take(upstream, _body, _headers, status) {
      if (status !== 200) return NOT_ALL;
      const refused = (await lines.end()) ?? (await hold(upstream, lines.references));
      onRead();
      return refused ?? decide() ?? refuse() ?? { query };
    },
  };
}

/**
 * Returns the problem to answer if the lines of a file may not be sent as they are to the upstream that has it.
 *
 * @param resolved where a call with the lines' model goes
 * @param holder upstream that has the file, as the first candidate
 */
export function refusalOfLines(resolved: Resolved, holder: Resolved, model: string | undefined): Problem | undefined {
  if (resolved.limits !== undefined) return LIMITED_ROUTE;
  const { upstream } = holder.candidates[0];
  const mayGo = resolved.candidates.some(
    (to) => isSameUpstream(to.upstream, upstream) && (to.model ?? model) === model,
  );
  return mayGo ? undefined : LED_ELSEWHERE;
}

/** Returns the problem to answer if a key may not call an operation at a gateway by itself. */
export function refusalOfOperation(
  { operations }: GatewayRecord,
  key: KeyRecord,
  operation: ServedOperation,
): Problem | undefined {
  const { kind, scope } = GATEWAY_OPERATIONS[operation];
  if (!operations.includes(kind)) {
    return problem(
      "not_found",
      `This gateway does not serve what the batch's requests ask: have ${kind} added to its spec.operations.`,
    );
  }
  return permits(key, operation)
    ? undefined
    : problem("forbidden", `What the batch's requests ask takes the scope ${scope}, which this key lacks.`);
}

export const LIMITED_ROUTE: Problem = problem(
  "forbidden",
  "The model of the batch names a route with a limit, to which a batch cannot be held: send its requests one by one.",
);
const LED_ELSEWHERE = problem(
  "invalid_request",
  "The lines of a batch's file are sent as they are, and their model leads to another upstream than the one that has the file, or has another name there: name a model of the upstream's own.",
);
const NO_FILE = problem("invalid_request", "The body names no file, or several: name one as `input_file_id`.");
const OTHER_ENDPOINT = problem(
  "invalid_request",
  `The \`endpoint\` is none that batches are served for here, which are ${listed([...ENDPOINTS.keys()])}.`,
);
const NOT_ALL = problem("bad_gateway", "The upstream did not answer with all of the batch's file: no batch has begun.");

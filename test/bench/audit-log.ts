import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { createInterface } from "node:readline";

/** A request of the controller, as the API server's audit log has it. */
export type AuditedRequest = {
  /** As `patch platformkeys/status`. */
  readonly what: string;
  readonly verb: string;
  readonly resource: string;
  /** When it came, and when its answer had been given, in milliseconds since the epoch. */
  readonly from: number;
  readonly to: number;
};

const USER_AGENT = "keyplane-controller";

/** Reads an audit log bit by bit: each time what has come since the last. */
export function followAuditLog(path: string): () => Promise<AuditedRequest[]> {
  let start = 0;
  return async () => {
    const { size } = await stat(path);
    if (size === start) return [];
    const asked: AuditedRequest[] = [];
    for await (const line of createInterface({ input: createReadStream(path, { start, end: size - 1 }) })) {
      if (line.includes(USER_AGENT)) asked.push(toAsked(JSON.parse(line)));
    }
    start = size;
    return asked;
  };
}

type AuditEvent = {
  readonly verb: string;
  readonly objectRef?: { readonly resource?: string; readonly subresource?: string };
  readonly requestReceivedTimestamp: string;
  readonly stageTimestamp: string;
};

function toAsked({ verb, objectRef, requestReceivedTimestamp, stageTimestamp }: AuditEvent): AuditedRequest {
  const { resource = "", subresource } = objectRef ?? {};
  return {
    what: subresource === undefined ? `${verb} ${resource}` : `${verb} ${resource}/${subresource}`,
    verb,
    resource,
    from: Date.parse(requestReceivedTimestamp),
    to: Date.parse(stageTimestamp),
  };
}

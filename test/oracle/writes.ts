import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import type { StartedKubernetes } from "../env/kubernetes.ts";
import { type Model, NAMESPACES } from "./model.ts";
import type { Report } from "./report.ts";

/** A write of a controller that the API server has carried out. */
export type Write = {
  readonly at: number;
  readonly verb: string;
  readonly resource: string;
  /** As `/status`, or nothing. */
  readonly part: string;
  readonly namespace: string;
  readonly name: string;
};

const WRITING: ReadonlySet<string> = new Set(["create", "update", "patch", "delete", "deletecollection"]);
/** The Lease, which is renewed all the time, and the question who one is, which is asked by a POST. */
const NO_WRITES: ReadonlySet<string> = new Set(["leases", "selfsubjectreviews"]);
/** What a controller may write to, whatever the name, in the namespaces that are served. */
const OWN: ReadonlySet<string> = new Set(["platformkeys", "modelgateways", "memorylibraries", "events", "deployments"]);

type AuditLine = {
  readonly verb: string;
  readonly user: { readonly username: string };
  readonly objectRef?: {
    readonly resource: string;
    readonly subresource?: string;
    readonly namespace?: string;
    readonly name?: string;
  };
  readonly responseStatus?: { readonly code?: number };
  readonly requestReceivedTimestamp: string;
};

/**
 * Every write that the controllers got through, from the API server's audit log.
 *
 * @param controllerUser whom the controllers write as
 */
export async function writesOf(
  { auditLog }: Pick<StartedKubernetes, "auditLog">,
  controllerUser: string,
): Promise<Write[]> {
  const writes: Write[] = [];
  if (auditLog === undefined) return writes;
  for await (const line of createInterface({ input: createReadStream(auditLog) })) {
    if (!line.includes(controllerUser)) continue;
    const { verb, user, objectRef, responseStatus, requestReceivedTimestamp }: AuditLine = JSON.parse(line);
    if (user.username !== controllerUser || !WRITING.has(verb) || objectRef === undefined) continue;
    if ((responseStatus?.code ?? 0) >= 400 || NO_WRITES.has(objectRef.resource)) continue;
    const { resource, subresource, namespace = "", name = "" } = objectRef;
    const part = subresource === undefined ? "" : `/${subresource}`;
    writes.push({ at: Date.parse(requestReceivedTimestamp), verb, resource, part, namespace, name });
  }
  return writes;
}

/** I7: nothing outside of the namespaces and the Secrets that a declaration names is written. */
export function checkWrites(writes: readonly Write[], model: Model, report: Report): void {
  const served: ReadonlySet<string> = new Set(NAMESPACES);
  for (const { verb, resource, namespace, name } of writes) {
    const title = namespace === "" ? name : `${namespace}/${name}`;
    const isRight =
      resource === "platformteams" ||
      (OWN.has(resource) && (served.has(namespace) || resource === "events")) ||
      // A create has no name in the log: the Secret that it made is checked as it is seen.
      (resource === "secrets" && served.has(namespace) && (name === "" || model.secretNames.has(title)));
    if (!isRight) report.violation({ rule: "I7", subject: title, what: `a controller's ${verb} of ${resource}` });
  }
}

const WINDOW_MS = 10_000;
/** The most writes of one object within that time: twice what the busiest runs have seen, and of teams less, which few edit. */
const MOST = 12;
const MOST_OF_A_TEAM = 6;

/**
 * No object is written again and again: not by a controller that fights what alters it (threats c69), nor by two that
 * fight each other (threats c70).
 */
export function checkRates(writes: readonly Write[], report: Report): void {
  const named = writes.filter(({ name, resource }) => name !== "" && resource !== "events");
  const titleOf = ({ resource, part, namespace, name }: Write) => `${namespace}/${name} ${resource}${part}`;
  for (const [title, own = []] of Map.groupBy(named, titleOf)) {
    const most = own[0]?.resource === "platformteams" ? MOST_OF_A_TEAM : MOST;
    const times = own.map(({ at }) => at).sort((a, b) => a - b);
    const tooMany = times.findIndex((at, index) => at - (times[index - most] ?? Number.NEGATIVE_INFINITY) < WINDOW_MS);
    if (tooMany === -1) continue;
    const what = `controllers wrote it more than ${most} times within ${WINDOW_MS / 1_000} s`;
    report.violation({ rule: "no write again and again", subject: title, what });
  }
}

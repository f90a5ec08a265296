/** Lease object of a leader election: taken, renewed and given back, always under the version that is known. */
import { createHash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { isRecord } from "../../../domain/manifest/document/identity.ts";
import type { ApiClient } from "./api/api-client.ts";
import { isConflict, isNotFound } from "./api/api-error.ts";
import type { ApiRequest } from "./api/transport.ts";
import { microTime } from "./events.ts";
import { LEASE_SECONDS, type Moment, respectLeft } from "./lease-timing.ts";
import { leaseResource, leasesPath } from "./resources.ts";

const LEASE_NAME = "keyplane-controller";
/** Labels of every Lease of a controller, whatever its name is. */
const LABELS = { "app.kubernetes.io/name": "keyplane", "app.kubernetes.io/component": "controller" };
/** Selector by which the Leases of controllers are found. */
export const LEASE_SELECTOR = Object.entries(LABELS)
  .map((label) => label.join("="))
  .join(",");
/** Annotation with the namespaces that the leader serves, separated by commas; absent if it serves all. */
const NAMESPACES_ANNOTATION = "keyplane.dev/namespaces";
/** Number of writes of an attempt if other writes were quicker; after that it waits as any attempt that failed. */
const MAX_WRITES = 5;
/** Options of all requests of an election: it has a pace of its own, and waits for nothing else. */
const AT_ONCE = { isElection: true, maxAttempts: 1 } as const;

/** Returns the default name of a controller's Lease: one for each scope. */
export function leaseName(scope: string): string {
  const [, namespaces] = scope.split("/", 2);
  if (namespaces === undefined) return LEASE_NAME;
  return `${LEASE_NAME}-${createHash("sha256").update(scope).digest("hex").slice(0, 10)}`;
}

/** Returns the title of a Lease in messages and statuses, which is also the name of its controller. */
export const leaseTitle = ({ namespace, name }: { readonly namespace: string; readonly name: string }): string =>
  `${namespace}/${name}`;

/** Parses the title of a Lease; undefined if the text is no title. */
export function parseLeaseTitle(title: string): { namespace: string; name: string } | undefined {
  const [namespace, name, ...more] = title.split("/");
  return namespace && name && more.length === 0 ? { namespace, name } : undefined;
}

export type LeaseRecordOptions = {
  readonly api: ApiClient;
  readonly namespace: string;
  readonly name: string;
  /** Identity of this process, unlike any other's. */
  readonly identity: string;
  /** Namespaces that this process would serve, for people and doctor; null for all. */
  readonly served: readonly string[] | null;
  readonly now: () => Moment;
};

export type LeaseRecord = {
  /**
   * Takes the lease, or renews it: by a write alone if the last write was answered, else after a read.
   *
   * @param timeLeft called as each request is sent: returns the milliseconds to wait for its answer
   * @returns when the write that was answered was sent; undefined if another holds the lease
   * @throws ApiError if it is not known who holds the lease
   */
  take(timeLeft: () => number): Promise<Moment | undefined>;
  /**
   * Returns the milliseconds for which the lease, as last seen, may not be taken from another; 0 if no other holds it.
   */
  respectLeft(): number;
  /** Lets go of the lease, so that another controller need not wait. */
  release(timeLeft: () => number): Promise<void>;
};

type Spec = Readonly<Record<string, unknown>>;
type Lease = {
  readonly spec: Spec;
  readonly version: string;
  /**
   * Namespaces that its leader serves; null for every namespace. undefined if it does not say, as before there were
   * labels.
   */
  readonly served: readonly string[] | null | undefined;
};

export function createLeaseRecord(options: LeaseRecordOptions): LeaseRecord {
  const { api, namespace, name, identity, served, now } = options;
  const metadata = {
    ...{ name, namespace, labels: LABELS },
    ...(served === null ? {} : { annotations: { [NAMESPACES_ANNOTATION]: served.join(",") } }),
  };
  /** Lease as we have written it last; undefined if that is not known, and it must be read first. */
  let written: Lease | undefined;
  /** Lease of another as last seen, and since when it has not changed, on our own clock: the other's may be wrong. */
  let seen: { readonly spec: Spec; readonly since: number } | undefined;

  /**
   * Writes what follows from the present lease. It is read if it is not known, and read again if another has changed it
   * meanwhile. The number of writes is limited, in case something calls each of them a conflict.
   *
   * @param next returns what to write; undefined if nothing is to be written
   * @returns when the write that was answered was sent; undefined if nothing was to be written
   */
  async function update(
    next: (spec: Spec | undefined, at: Moment) => Spec | undefined,
    timeLeft: () => number,
  ): Promise<Moment | undefined> {
    for (let writes = 1; ; writes++) {
      const lease = written ?? (await readLease(api, namespace, name, { timeoutMs: timeLeft(), ...AT_ONCE }));
      written = undefined;
      const sent = now();
      const spec = next(lease?.spec, sent);
      if (spec === undefined) return undefined;
      try {
        written = await write(spec, lease?.version, timeLeft());
        return sent;
      } catch (error) {
        const isOutrun = isConflict(error) || isNotFound(error, leaseResource(name));
        if (!isOutrun || writes === MAX_WRITES) throw error;
      }
    }
  }

  async function write(spec: Spec, resourceVersion: string | undefined, timeoutMs: number): Promise<Lease> {
    const collection = leasesPath(namespace);
    const isNew = resourceVersion === undefined;
    const answer = await api.request({
      method: isNew ? "POST" : "PUT",
      path: isNew ? collection : `${collection}/${encodeURIComponent(name)}`,
      timeoutMs,
      ...AT_ONCE,
      body: {
        apiVersion: "coordination.k8s.io/v1",
        kind: "Lease",
        metadata: isNew ? metadata : { ...metadata, resourceVersion },
        spec,
      },
    });
    return leaseIn(answer);
  }

  function taken(before: Spec | undefined, at: Moment): Spec | undefined {
    notice(before, at);
    if (leftOf(at) > 0) return undefined;
    const renewTime = microTime(at.wall);
    const isRenewal = before?.holderIdentity === identity;
    const { leaseTransitions, acquireTime } = before ?? {};
    const transitions = typeof leaseTransitions === "number" ? leaseTransitions : 0;
    return {
      holderIdentity: identity,
      leaseDurationSeconds: LEASE_SECONDS,
      acquireTime: isRenewal ? acquireTime : renewTime,
      renewTime,
      leaseTransitions: isRenewal || before === undefined ? transitions : transitions + 1,
    };
  }

  /** Notes whether another holds the lease, and since when it has been unchanged. */
  function notice(spec: Spec | undefined, { steady }: Moment): void {
    if (!spec?.holderIdentity || spec.holderIdentity === identity) seen = undefined;
    else if (!isDeepStrictEqual(seen?.spec, spec)) seen = { spec, since: steady };
  }

  function leftOf({ steady }: Moment): number {
    if (seen === undefined) return 0;
    const { leaseDurationSeconds: seconds } = seen.spec;
    return respectLeft(typeof seconds === "number" ? seconds : LEASE_SECONDS, steady - seen.since);
  }

  return {
    take: (timeLeft) => update(taken, timeLeft),
    respectLeft: () => leftOf(now()),
    async release(timeLeft) {
      const released = (spec: Spec | undefined) =>
        spec?.holderIdentity === identity ? { ...spec, holderIdentity: "", leaseDurationSeconds: 1 } : undefined;
      await update(released, timeLeft);
    },
  };
}

/**
 * Reads a Lease.
 *
 * @param patience how long, and how often, to wait for the answer
 * @returns undefined if there is none
 */
export async function readLease(
  api: Pick<ApiClient, "request">,
  namespace: string,
  name: string,
  patience: Pick<ApiRequest, "timeoutMs" | "maxAttempts" | "isElection"> = {},
): Promise<Lease | undefined> {
  const path = `${leasesPath(namespace)}/${encodeURIComponent(name)}`;
  try {
    return leaseIn(await api.request({ method: "GET", path, ...patience }));
  } catch (error) {
    if (isNotFound(error, leaseResource(name))) return undefined;
    throw error;
  }
}

function leaseIn(lease: unknown): Lease {
  const { spec, metadata } = isRecord(lease) ? lease : {};
  const { resourceVersion, labels, annotations } = isRecord(metadata) ? metadata : {};
  return { spec: isRecord(spec) ? spec : {}, version: String(resourceVersion), served: servedBy(labels, annotations) };
}

function servedBy(labels: unknown, annotations: unknown): Lease["served"] {
  if (!isRecord(labels) || Object.entries(LABELS).some(([label, value]) => labels[label] !== value)) return undefined;
  const namespaces = isRecord(annotations) ? annotations[NAMESPACES_ANNOTATION] : undefined;
  return typeof namespaces === "string" ? namespaces.split(",") : null;
}

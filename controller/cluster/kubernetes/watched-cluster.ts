/**
 * Knowledge of a cluster by watching it: its objects, the versions of the Secrets that they name, and the namespaces
 * that are ending. Starts and ends the watches, and announces what has changed.
 */
import type { Presence } from "../../../domain/garbage-collection.ts";
import type { LogLine } from "../../../runtime/log-line.ts";
import type { ClusterChange, DeclaredObject, ObjectRef } from "../port.ts";
import { createSecretIndex, type SecretIndex } from "../secret-names.ts";
import { AbsenceChecks } from "./absence-checks.ts";
import type { ApiClient } from "./api/api-client.ts";
import { createEndingNamespaces, type EndingNamespaces } from "./ending-namespaces.ts";
import type { ClusterIdentity } from "./identity.ts";
import { reportInvalid } from "./invalid.ts";
import { createLookUp, type LookUp } from "./look-up.ts";
import { createObjectWrites, type ObjectWrites } from "./object-writes.ts";
import { objectPath, objectResource } from "./resources.ts";
import { SecretChanges } from "./secrets/secret-changes.ts";
import { createSecretWatches, type SecretWatches } from "./secrets/secret-watches.ts";
import { createStatusOwners, type StatusOwners } from "./status-owners.ts";
import { createObjectWatches, type ObjectWatches } from "./watch/object-watches.ts";
import { WatchedObjects } from "./watch/objects.ts";
import type { CheckedObject } from "./watch/read-object.ts";
import { createReflectors, type Reflectors } from "./watch/reflectors.ts";

export type WatchedClusterOptions = {
  readonly api: ApiClient;
  readonly identity: Pick<ClusterIdentity, "confirm">;
  /** Namespaces that are served; null for all. */
  readonly namespaces: readonly string[] | null;
  readonly clock: { now(): number; monotonic(): number };
  /** Returns a number that is uniform in [0, 1). */
  readonly random: () => number;
  readonly log: LogLine;
  readonly fieldManager: string;
  /** Name of the controller that its statuses name as their writer; undefined if they name none. */
  readonly controllerName: string | undefined;
  /** Signal that ends every watch. */
  readonly closing: AbortSignal;
};

export class WatchedCluster {
  readonly objects: WatchedObjects;
  readonly writes: ObjectWrites;
  readonly owners: StatusOwners;
  readonly reflectors: Reflectors;
  readonly objectWatches: ObjectWatches;
  readonly secretChanges: SecretChanges;
  readonly secretWatches: SecretWatches;
  readonly #options: WatchedClusterOptions;
  readonly #endingNamespaces: EndingNamespaces;
  readonly #references: SecretIndex;
  readonly #absenceChecks: AbsenceChecks;
  readonly #ask: LookUp;
  #announce: (change: ClusterChange) => void = () => {};
  /** Signal that ends what was started last. */
  #watching: AbortSignal;
  #isStarted = false;

  constructor(options: WatchedClusterOptions) {
    const { api, identity, namespaces, clock, random, log } = options;
    this.#options = options;
    this.#watching = options.closing;
    this.#ask = createLookUp(api, identity, clock);
    this.#endingNamespaces = createEndingNamespaces({
      ...{ api, clock, log, confirm: identity.confirm },
      inUse: () => this.objects.namespaces(),
      onChange: (namespace) => this.objects.announce(namespace),
    });
    this.objects = new WatchedObjects(
      (ref, now) => this.#onObject(ref, now),
      this.#endingNamespaces.takes,
      (ref) =>
        this.objectWatches.listAgain(ref, (title) => `${title} is another by a watch than by the answer to a write`),
    );
    this.owners = createStatusOwners({
      ...{ clock, log, name: options.controllerName },
      serves: (object) => isServed(object, namespaces),
    });
    this.writes = createObjectWrites(api, this.objects, this.owners, options.fieldManager);
    this.reflectors = createReflectors({ api, clock, random, log, confirm: identity.confirm });
    this.#references = createSecretIndex(
      (namespace) => this.#startSecretWatch(namespace),
      (namespace) => this.#endSecretWatch(namespace),
      (namespace, name) => this.secretChanges.drop(namespace, name),
    );
    this.secretChanges = new SecretChanges(
      (namespace, name) => this.#references.namersOf(namespace, name).length > 0,
      (namespace, name) => {
        // At the start everything is reconciled anyway.
        if (this.#isStarted) this.#announce({ of: "secret", namespace, name });
      },
    );
    this.secretWatches = createSecretWatches(this.reflectors, this.secretChanges);
    this.#absenceChecks = new AbsenceChecks(
      () => this.objects.unconfirmed(),
      (object) => this.lookUp(object, object.uid),
    );
    this.objectWatches = createObjectWatches({
      ...{ reflectors: this.reflectors, objects: this.objects, namespaces, log },
      onListed: () => this.reflectors.keep(this.#absenceChecks.run(this.#watching)),
    });
  }

  /** Starts watching, as `watch` of the port. */
  async watch(onChange: (change: ClusterChange) => void, signal: AbortSignal): Promise<void> {
    this.#watching = AbortSignal.any([signal, this.#options.closing]);
    this.#announce = onChange;
    await this.objectWatches.start(this.#watching);
    this.reflectors.keep(this.#endingNamespaces.run(this.#watching));
    await this.secretWatches.attempted();
    this.#isStarted = true;
  }

  /** Looks an object up, as `lookUp` of the port. */
  async lookUp(ref: ObjectRef, uid: string): Promise<Presence> {
    const wanted = { ...objectResource(ref), path: objectPath(ref), uid };
    const { presence, object } = await this.#ask(wanted, this.#watching);
    if (object === undefined) {
      if (presence === "gone") this.objects.forget({ ...ref, uid });
    } else if (this.objects.found(this.objects.read(ref.kind, object)))
      this.objectWatches.listAgain(ref, (title) => `a list lacked ${title}, which is there`);
    return presence;
  }

  /** True if an object ends with its namespace, which still exists and takes nothing new. */
  isTerminating(object: DeclaredObject): boolean {
    return this.#endingNamespaces.isTerminating(object);
  }

  /** Looks at a namespace that something has reported to be ending, before its turn. */
  hintEnding(namespace: string): void {
    this.#endingNamespaces.hint(namespace, this.#watching);
  }

  #onObject(ref: ObjectRef, now: CheckedObject | undefined): void {
    this.#references.note(ref, now?.object);
    if (now === undefined) this.owners.forget(ref);
    this.#announce({ of: "object", ...ref });
    if (now?.problem === undefined) return;
    const { clock, log } = this.#options;
    const { objects, writes } = this;
    this.reflectors.keep(reportInvalid({ objects, writes, clock, log }, now, this.#watching));
  }

  #startSecretWatch(namespace: string): void {
    const { namespaces } = this.#options;
    // A team may name a Secret in a namespace that is not served: it is read only when the team is reconciled.
    if (namespaces === null || namespaces.includes(namespace)) this.secretWatches.start(namespace, this.#watching);
  }

  #endSecretWatch(namespace: string): void {
    this.secretWatches.end(namespace);
    this.secretChanges.dropAll(namespace);
  }
}

/** True if what an object declares is in a namespace that is served; for a team, if any namespace that it claims is. */
function isServed({ spec }: DeclaredObject, namespaces: readonly string[] | null): boolean {
  return namespaces === null || !("namespaces" in spec) || spec.namespaces.some((one) => namespaces.includes(one));
}

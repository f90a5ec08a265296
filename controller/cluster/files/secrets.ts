/**
 * Secrets with the manners of an API server: whose they are, and writes that are refused when the Secret is another one
 * than was read. What we know of our own is DATA/secret-metadata/<namespace>/<name>.json, which never holds a value or
 * a hash. A Secret without it is somebody else's, and is never written to.
 */
import { dirname, join } from "node:path";
import { errorText } from "../../../domain/error-text.ts";
import { createSerial } from "../../serial.ts";
import { ClusterError, type SecretDraft, type SecretObject } from "../port.ts";
import { type DeclaredSecrets, isSameData } from "./declared-secrets.ts";
import { ensureFolder, hasCode, readJson, removeFile, replaceFile, standingAt } from "./disk.ts";
import { secretPath } from "./paths.ts";
import { createSecretFiles } from "./secret-files.ts";

type SecretMetadata = Pick<SecretDraft, "labels" | "annotations" | "owner"> & {
  readonly uid: string;
  /** Grows with each write of this record. */
  readonly revision: number;
  /** The names of the data keys: what a replacement that a crash interrupted is to leave. */
  readonly dataKeys: readonly string[];
};

type SecretReference = { readonly namespace: string; readonly name: string };

export type Secrets = {
  read(namespace: string, name: string): Promise<SecretObject | undefined>;
  create(draft: SecretDraft): Promise<SecretObject>;
  replace(read: SecretObject, draft: SecretDraft): Promise<SecretObject>;
  remove(read: SecretObject): Promise<void>;
  /** What stands at a Secret's place, ours or not, to be compared with what stood there; undefined for nothing. */
  identify(namespace: string, name: string): Promise<string | undefined>;
  list(): Promise<readonly SecretReference[]>;
  /** Where a read failed, or found a link or a file in the way, since this was last asked. */
  takeBlocked(): readonly SecretReference[];
};

/**
 * Opens the Secrets of a DATA folder, and ends what a crash interrupted.
 *
 * @param findDeclared the `Secret` manifests, which are read as Secrets that are not ours
 */
export async function openSecrets(
  data: string,
  randomUuid: () => string,
  findDeclared: DeclaredSecrets["find"],
): Promise<Secrets> {
  const records = join(data, "secret-metadata");
  const files = createSecretFiles(
    join(data, "secrets"),
    randomUuid,
    async (namespace, name) => (await loadMetadata(namespace, name))?.dataKeys,
  );
  let blocked: SecretReference[] = [];
  const serially = createSerial();
  const recordPath = (namespace: string, name: string) => `${secretPath(records, namespace, name)}.json`;

  async function loadMetadata(namespace: string, name: string): Promise<SecretMetadata | undefined> {
    const path = recordPath(namespace, name);
    if ((await standingAt(dirname(path), records)) !== "folder") return undefined;
    return (await readJson(path)) as SecretMetadata | undefined;
  }

  async function saveMetadata(draft: SecretDraft, uid: string, revision: number): Promise<SecretMetadata> {
    const { namespace, name, labels, annotations, owner } = draft;
    const metadata = { uid, revision, labels, annotations, owner, dataKeys: Object.keys(draft.data) };
    const path = recordPath(namespace, name);
    await ensureFolder(dirname(path), records);
    await replaceFile(path, JSON.stringify(metadata));
    return metadata;
  }

  const dropMetadata = (namespace: string, name: string) => removeFile(recordPath(namespace, name), records);

  /**
   * Our metadata of a Secret that is there. Metadata that is left of one that went is dropped: what comes is not ours,
   * and neither is what stands there when it is no folder. Behind a link that took the place of a folder above, nothing
   * is ours for now; but nothing is known to have gone.
   */
  async function ours(
    namespace: string,
    name: string,
  ): Promise<{ metadata: SecretMetadata; identity: string } | undefined> {
    const metadata = await loadMetadata(namespace, name);
    if (metadata === undefined) return undefined;
    const standing = await files.standing(namespace, name);
    if (standing === "hidden") return undefined;
    const identity = standing === "folder" ? await files.identify(namespace, name) : undefined;
    if (identity !== undefined) return { metadata, identity };
    await dropMetadata(namespace, name);
    return undefined;
  }

  async function look(namespace: string, name: string): Promise<SecretObject | undefined> {
    const own = await ours(namespace, name);
    if (own !== undefined) return present(namespace, name, own.metadata, own.identity);
    const manifest = findDeclared(namespace, name);
    if (manifest !== undefined) return manifest;
    const identity = await files.identify(namespace, name);
    return identity === undefined ? undefined : present(namespace, name, undefined, identity);
  }

  /** The identity is taken before the data is read: an edit between the two makes a later write conflict. */
  async function present(
    namespace: string,
    name: string,
    metadata: SecretMetadata | undefined,
    identity: string,
  ): Promise<SecretObject> {
    const { uid = "", labels = {}, annotations = {}, owner = null } = metadata ?? {};
    const resourceVersion = `${metadata?.revision ?? 0} ${identity}`;
    const content = await files.read(namespace, name);
    return {
      namespace,
      name,
      data: content,
      labels,
      annotations,
      owner,
      uid,
      resourceVersion,
      immutable: false,
      marks: [],
    };
  }

  async function create(draft: SecretDraft): Promise<SecretObject> {
    const { namespace, name } = draft;
    if ((await look(namespace, name)) !== undefined) throw alreadyExists(draft);
    const metadata = await saveMetadata(draft, randomUuid(), 1);
    try {
      await files.create(namespace, name, draft.data);
    } catch (error) {
      const isThere = (await files.identify(namespace, name)) !== undefined;
      if (isThere && !isTaken(error)) throw unclear("creating", draft, error);
      await dropMetadata(namespace, name);
      throw isThere ? alreadyExists(draft) : failure("creating", draft, error);
    }
    return written(draft, metadata);
  }

  async function replace(read: SecretObject, draft: SecretDraft): Promise<SecretObject> {
    const { namespace, name } = read;
    const { metadata } = await assertUnchanged(read);
    const next = await saveMetadata({ ...draft, namespace, name }, read.uid, metadata.revision + 1);
    let committed = false;
    try {
      if (!isSameData(read.data, draft.data)) {
        await files.replace(namespace, name, draft.data, () => {
          committed = true;
        });
      }
    } catch (error) {
      if (committed) throw unclear("replacing", read, error);
      throw failure("replacing", read, error);
    }
    return written({ ...draft, namespace, name }, next);
  }

  async function remove(read: SecretObject): Promise<void> {
    const { namespace, name } = read;
    const now = await look(namespace, name);
    if (now === undefined || now.uid !== read.uid) return;
    await assertUnchanged(read);
    await files.remove(namespace, name);
    await dropMetadata(namespace, name);
  }

  async function assertUnchanged(read: SecretObject): Promise<{ metadata: SecretMetadata }> {
    const title = `Secret ${read.namespace}/${read.name}`;
    if (read.uid === "") throw new ClusterError("Forbidden", `${title} is not one of ours: it is never written to`);
    const own = await ours(read.namespace, read.name);
    if (own === undefined && (await look(read.namespace, read.name)) === undefined) {
      throw new ClusterError("NotFound", `${title} is gone`);
    }
    if (own?.metadata.uid !== read.uid || `${own.metadata.revision} ${own.identity}` !== read.resourceVersion) {
      throw new ClusterError("Conflict", `${title} has changed since it was read`);
    }
    return own;
  }

  /** As it stands after a write of ours: with the data that was written, whatever happens to the files meanwhile. */
  async function written(draft: SecretDraft, metadata: SecretMetadata): Promise<SecretObject> {
    const identity = await files.identify(draft.namespace, draft.name);
    const { uid, revision } = metadata;
    return { ...draft, uid, resourceVersion: `${revision} ${identity}`, immutable: false, marks: [] };
  }

  /** One at a time for each Secret, and none before what was left to be done is done. */
  function settled<T>({ namespace, name }: SecretReference, work: () => Promise<T>): Promise<T> {
    return serially(`${namespace}/${name}`, async () => {
      await files.settle(namespace, name);
      return work();
    });
  }

  /**
   * A Secret that cannot be read is as one that we may not read: its key can be revoked all the same.
   *
   * @throws ClusterError `Forbidden`
   * @throws Error where these are no names
   */
  async function read(namespace: string, name: string): Promise<SecretObject | undefined> {
    secretPath("", namespace, name);
    try {
      const found = await settled({ namespace, name }, () => look(namespace, name));
      const standing = await files.standing(namespace, name);
      if (standing === "other" || standing === "hidden") blocked.push({ namespace, name });
      return found;
    } catch (error) {
      // It is announced once its manifest is seen.
      if (error instanceof ClusterError) throw error;
      blocked.push({ namespace, name });
      throw new ClusterError("Forbidden", errorText(failure("reading", { namespace, name }, error)), { cause: error });
    }
  }

  await files.recover();
  return {
    read,
    create: (draft) => settled(draft, () => create(draft)),
    replace: (read, draft) => settled(read, () => replace(read, draft)),
    remove: (read) => settled(read, () => remove(read)),
    identify: files.identify,
    list: files.list,
    takeBlocked() {
      const taken = blocked;
      blocked = [];
      return taken;
    },
  };
}

const isTaken = (error: unknown) => hasCode(error, "EEXIST", "ENOTEMPTY", "ENOTDIR");

const alreadyExists = ({ namespace, name }: SecretDraft) =>
  new ClusterError("AlreadyExists", `there is a Secret ${namespace}/${name} already`);

const failure = (doing: string, { namespace, name }: SecretReference, cause: unknown) =>
  new Error(`while ${doing} Secret ${namespace}/${name}: ${errorText(cause)}`, { cause });

const unclear = (doing: string, { namespace, name }: SecretDraft, cause: unknown) =>
  new ClusterError("Unclear", `while ${doing} Secret ${namespace}/${name}: it may have been written`, { cause });

/**
 * Secrets with the manners of an API server: one that is there is not created again, and a write is refused when the
 * Secret is another one than was read, or is not ours.
 */
import { join } from "node:path";
import { errorText } from "../../../../domain/error-text.ts";
import { hasCode } from "../../../../runtime/error-code.ts";
import { createSerial } from "../../../../runtime/serial.ts";
import { ClusterError, type SecretDraft, type SecretObject } from "../../port.ts";
import { type DeclaredSecrets, isSameData, type SecretName } from "../manifests/declared-secrets.ts";
import { secretPath } from "../paths.ts";
import { createSecretFiles } from "./secret-files.ts";
import { createSecretMetadataFiles } from "./secret-metadata.ts";
import { createSecretOwnership } from "./secret-ownership.ts";

export type Secrets = {
  read(namespace: string, name: string): Promise<SecretObject | undefined>;
  create(draft: SecretDraft): Promise<SecretObject>;
  replace(read: SecretObject, draft: SecretDraft): Promise<SecretObject>;
  remove(read: SecretObject): Promise<void>;
  /** What stands at a Secret's place, ours or not, to be compared with what stood there; undefined for nothing. */
  identify(namespace: string, name: string): Promise<string | undefined>;
  list(): Promise<readonly SecretName[]>;
  /** Where a read failed, or found a link or a file in the way, since this was last asked. */
  takeBlocked(): readonly SecretName[];
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
  const metadataFiles = createSecretMetadataFiles(join(data, "secret-metadata"));
  const files = createSecretFiles(
    join(data, "secrets"),
    randomUuid,
    async (namespace, name) => (await metadataFiles.load(namespace, name))?.dataKeys,
  );
  const ownership = createSecretOwnership(metadataFiles, files, findDeclared);
  let blocked: SecretName[] = [];
  const serially = createSerial();

  async function create(draft: SecretDraft): Promise<SecretObject> {
    const { namespace, name } = draft;
    if ((await ownership.find(namespace, name)) !== undefined) throw alreadyExists(draft);
    const metadata = await metadataFiles.save(draft, randomUuid(), 1);
    try {
      await files.create(namespace, name, draft.data);
    } catch (error) {
      const isThere = (await files.identify(namespace, name)) !== undefined;
      if (isThere && !isTaken(error)) throw unclear("creating", draft, error);
      await metadataFiles.remove(namespace, name);
      throw isThere ? alreadyExists(draft) : failure("creating", draft, error);
    }
    return ownership.written(draft, metadata);
  }

  async function replace(read: SecretObject, draft: SecretDraft): Promise<SecretObject> {
    const { namespace, name } = read;
    const metadata = await ownership.assertUnchanged(read);
    const next = await metadataFiles.save({ ...draft, namespace, name }, read.uid, metadata.revision + 1);
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
    return ownership.written({ ...draft, namespace, name }, next);
  }

  async function remove(read: SecretObject): Promise<void> {
    const { namespace, name } = read;
    const now = await ownership.find(namespace, name);
    if (now === undefined || now.uid !== read.uid) return;
    await ownership.assertUnchanged(read);
    await files.remove(namespace, name);
    await metadataFiles.remove(namespace, name);
  }

  /** One at a time for each Secret, and none before what was left to be done is done. */
  function settled<T>({ namespace, name }: SecretName, work: () => Promise<T>): Promise<T> {
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
      const found = await settled({ namespace, name }, () => ownership.find(namespace, name));
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

const failure = (doing: string, { namespace, name }: SecretName, cause: unknown) =>
  new Error(`while ${doing} Secret ${namespace}/${name}: ${errorText(cause)}`, { cause });

const unclear = (doing: string, { namespace, name }: SecretDraft, cause: unknown) =>
  new ClusterError("Unclear", `while ${doing} Secret ${namespace}/${name}: it may have been written`, { cause });

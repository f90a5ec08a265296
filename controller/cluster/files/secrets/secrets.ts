/**
 * Secrets that behave as those of an API server: an existing Secret is not created again, and a write is refused if the
 * Secret is not ours or has changed since it was read.
 */
import { join } from "node:path";
import { errorText } from "../../../../domain/error-text.ts";
import { hasCode } from "../../../../runtime/error-code.ts";
import { createSerial } from "../../../../runtime/serial.ts";
import { ClusterError, type SecretDraft, type SecretObject } from "../../port.ts";
import type { SecretName } from "../../secret-names.ts";
import { type DeclaredSecrets, isSameData } from "../manifests/declared-secrets.ts";
import { secretFolder } from "../paths.ts";
import { createSecretFiles, type SecretFiles } from "./secret-files.ts";
import { createSecretMetadataFiles, type SecretMetadataFiles } from "./secret-metadata.ts";
import { createSecretOwnership, type SecretOwnership } from "./secret-ownership.ts";

export class FilesSecrets {
  readonly #files: SecretFiles;
  readonly #metadataFiles: SecretMetadataFiles;
  readonly #ownership: SecretOwnership;
  readonly #randomUuid: () => string;
  readonly #serially = createSerial();
  #blocked: SecretName[] = [];

  private constructor(data: string, randomUuid: () => string, findDeclared: DeclaredSecrets["find"]) {
    this.#randomUuid = randomUuid;
    this.#metadataFiles = createSecretMetadataFiles(join(data, "secret-metadata"));
    this.#files = createSecretFiles(
      join(data, "secrets"),
      randomUuid,
      async (namespace, name) => (await this.#metadataFiles.load(namespace, name))?.dataKeys,
    );
    this.#ownership = createSecretOwnership(this.#metadataFiles, this.#files, findDeclared);
  }

  /**
   * Opens the Secrets of a DATA folder, and ends what a crash interrupted.
   *
   * @param findDeclared finds a `Secret` manifest, which is read as a Secret that is not ours
   */
  static async open(
    data: string,
    randomUuid: () => string,
    findDeclared: DeclaredSecrets["find"],
  ): Promise<FilesSecrets> {
    const secrets = new FilesSecrets(data, randomUuid, findDeclared);
    await secrets.#files.recover();
    return secrets;
  }

  /**
   * Reads a Secret. If it cannot be read, the error is the same as for a missing right: its key can be revoked all the
   * same.
   *
   * @throws ClusterError `Forbidden`
   * @throws Error if these are no valid names
   */
  async read(namespace: string, name: string): Promise<SecretObject | undefined> {
    secretFolder("", namespace, name);
    try {
      const found = await this.#settled({ namespace, name }, () => this.#ownership.find(namespace, name));
      const standing = await this.#files.standing(namespace, name);
      if (standing === "other" || standing === "hidden") this.#blocked.push({ namespace, name });
      return found;
    } catch (error) {
      // A declared Secret is announced once its manifest is seen.
      if (error instanceof ClusterError) throw error;
      this.#blocked.push({ namespace, name });
      throw new ClusterError("Forbidden", errorText(failure("reading", { namespace, name }, error)), { cause: error });
    }
  }

  /**
   * Creates a Secret of ours.
   *
   * @throws ClusterError `AlreadyExists` if anything else is there, `Unclear` if it may have been written
   */
  create(draft: SecretDraft): Promise<SecretObject> {
    return this.#settled(draft, async () => {
      const { namespace, name } = draft;
      if ((await this.#ownership.find(namespace, name)) !== undefined) throw alreadyExists(draft);
      const metadata = await this.#metadataFiles.save(draft, this.#randomUuid(), 1);
      try {
        await this.#files.create(namespace, name, draft.data);
      } catch (error) {
        const isThere = (await this.#files.identify(namespace, name)) !== undefined;
        if (isThere && !isTaken(error)) throw unclear("creating", draft, error);
        await this.#metadataFiles.remove(namespace, name);
        throw isThere ? alreadyExists(draft) : failure("creating", draft, error);
      }
      return this.#ownership.written(draft, metadata);
    });
  }

  /**
   * Replaces exactly the Secret that was read.
   *
   * @throws ClusterError `Conflict` or `NotFound` if it has changed or gone since, `Unclear` if it may have been
   * written
   */
  replace(read: SecretObject, draft: SecretDraft): Promise<SecretObject> {
    return this.#settled(read, async () => {
      const { namespace, name } = read;
      const metadata = await this.#ownership.assertUnchanged(read);
      const next = await this.#metadataFiles.save({ ...draft, namespace, name }, read.uid, metadata.revision + 1);
      let isCommitted = false;
      try {
        if (!isSameData(read.data, draft.data)) {
          await this.#files.replace(namespace, name, draft.data, () => {
            isCommitted = true;
          });
        }
      } catch (error) {
        throw isCommitted ? unclear("replacing", read, error) : failure("replacing", read, error);
      }
      return this.#ownership.written({ ...draft, namespace, name }, next);
    });
  }

  /** Deletes exactly the Secret that was read. No error if it is gone. */
  remove(read: SecretObject): Promise<void> {
    return this.#settled(read, async () => {
      const { namespace, name } = read;
      const now = await this.#ownership.find(namespace, name);
      if (now === undefined || now.uid !== read.uid) return;
      await this.#ownership.assertUnchanged(read);
      await this.#files.remove(namespace, name);
      await this.#metadataFiles.remove(namespace, name);
    });
  }

  /**
   * Returns a text of what is at a Secret's path, ours or not, for comparison with a later one; undefined if nothing
   * is.
   */
  identify(namespace: string, name: string): Promise<string | undefined> {
    return this.#files.identify(namespace, name);
  }

  /** Lists every Secret that has files, ours or not. */
  list(): Promise<readonly SecretName[]> {
    return this.#files.list();
  }

  /** Returns the Secrets of which a read failed, or found a link or a file in the way, since the last call. */
  takeBlocked(): readonly SecretName[] {
    const taken = this.#blocked;
    this.#blocked = [];
    return taken;
  }

  /** Runs `work` after earlier work on the same Secret, and after what a crash left to be done for it. */
  #settled<T>({ namespace, name }: SecretName, work: () => Promise<T>): Promise<T> {
    return this.#serially(`${namespace}/${name}`, async () => {
      await this.#files.settle(namespace, name);
      return work();
    });
  }
}

const isTaken = (error: unknown) => hasCode(error, "EEXIST", "ENOTEMPTY", "ENOTDIR");

const alreadyExists = ({ namespace, name }: SecretDraft) =>
  new ClusterError("AlreadyExists", `there is a Secret ${namespace}/${name} already`);

const failure = (doing: string, { namespace, name }: SecretName, cause: unknown) =>
  new Error(`while ${doing} Secret ${namespace}/${name}: ${errorText(cause)}`, { cause });

const unclear = (doing: string, { namespace, name }: SecretDraft, cause: unknown) =>
  new ClusterError("Unclear", `while ${doing} Secret ${namespace}/${name}: it may have been written`, { cause });

/** A program, or a stack, that gives a new resource the name which another had before. */
import messages from "@pulumi/pulumi/proto/provider_pb.js";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openApi } from "../../../infra/pulumi/provider/api/api.ts";
import { openSession, type ProviderSession } from "../../../infra/pulumi/provider/engine/session.ts";
import { structOf, valuesOf } from "../../../infra/pulumi/provider/engine/structs.ts";
import {
  handleCheck,
  handleCreate,
  handleDelete,
  handleDiff,
  handleUpdate,
} from "../../../infra/pulumi/provider/resource-handlers.ts";
import { revealAll, type Values } from "../../../infra/pulumi/provider/values.ts";
import { describeOnEitherEngine } from "../../env/database/engines.ts";
import { type Api, startApi, TOKEN } from "../../server/management/api.ts";

type Made = { readonly id: string; readonly inputs: Values; readonly outputs: Values };

/** A resource that its program names so, in a stack. */
class Resource {
  readonly #type: string;
  readonly #name: string;
  readonly #urn: string;

  constructor(kind: string, name: string, stack = "dev") {
    this.#type = `keyplane:index:${kind}`;
    this.#name = name;
    this.#urn = `urn:pulumi:${stack}::app::${this.#type}::${name}`;
  }

  #check(given: Values, olds: Values): Values {
    const request = this.#about(new messages.CheckRequest()).setOlds(structOf(olds)).setNews(structOf(given));
    return valuesOf(handleCheck(request).getInputs());
  }

  async create(session: ProviderSession, given: Values): Promise<Made> {
    const inputs = this.#check(given, {});
    const request = this.#about(new messages.CreateRequest()).setProperties(structOf(inputs));
    const made = await handleCreate(session, request);
    return { id: made.getId(), inputs, outputs: valuesOf(made.getProperties()) };
  }

  /** Goes on with what was made, maybe under another name or in another stack, as an `up` does. */
  async keep(session: ProviderSession, { id, inputs, outputs }: Made, given: Values): Promise<void> {
    const news = structOf(this.#check(given, inputs));
    const [olds, oldInputs] = [structOf(outputs), structOf(inputs)];
    const diff = this.#about(new messages.DiffRequest()).setId(id).setOlds(olds).setOldInputs(oldInputs).setNews(news);
    if (handleDiff(session, diff).getDiffsList().length === 0) return;
    const update = this.#about(new messages.UpdateRequest()).setId(id).setOlds(olds).setOldInputs(oldInputs);
    await handleUpdate(session, update.setNews(news));
  }

  async destroy(session: ProviderSession, { id, outputs }: Made): Promise<void> {
    const request = this.#about(new messages.DeleteRequest()).setId(id);
    await handleDelete(session, request.setProperties(structOf(outputs)));
  }

  #about<R extends { setType(type: string): R; setName(name: string): R; setUrn(urn: string): R }>(request: R): R {
    return request.setType(this.#type).setName(this.#name).setUrn(this.#urn);
  }
}

const KEY: Values = { team: "reused", preset: "MCPReadOnly" };
const REFUSED = { details: expect.stringContaining("is in use") };

describeOnEitherEngine("what a program has made under a name that it gives to another", (store) => {
  let api: Api;
  beforeAll(async () => {
    api = await startApi(store());
    await api.send("POST", "/teams", { name: "reused", spec: {} });
  });
  afterAll(() => api.close());

  const up = (): ProviderSession => ({
    ...openSession({ env: {}, say: () => {}, now: () => Date.now() }),
    api: openApi({ url: api.url, token: TOKEN, tokenFile: undefined }),
  });
  const tryKey = ({ outputs }: Made) => api.tryKey(String(revealAll(outputs).secret));

  test("b440: a key with aliases keeps its secret and its rights, and the key that gets its old name is to have a `name`", async () => {
    const made = await new Resource("PlatformKey", "reader").create(up(), KEY);
    const session = up();
    await new Resource("PlatformKey", "docs-reader").keep(session, made, KEY);
    const [reader, given] = [new Resource("PlatformKey", "reader"), { ...KEY, preset: "MCPReadWrite" }];
    await expect(reader.create(session, given)).rejects.toMatchObject({
      details: expect.stringContaining("Give this one another `name`"),
    });
    expect(await tryKey(made)).toBe(200);
    expect((await api.send("GET", `/keys/${made.id}`)).body.spec).toMatchObject({ preset: "MCPReadOnly" });
    expect((await reader.create(session, { ...given, name: "another" })).id).not.toBe(made.id);
  });

  test("b440: a library with aliases stays the only one of its id", async () => {
    const given: Values = { team: "reused", displayName: "Handbook" };
    const made = await new Resource("MemoryLibrary", "handbook").create(up(), given);
    const session = up();
    await new Resource("MemoryLibrary", "old-handbook").keep(session, made, given);
    await expect(new Resource("MemoryLibrary", "handbook").create(session, given)).rejects.toMatchObject(REFUSED);
  });

  test("b440: a key of a renamed stack, which has changed it, is not taken up by a new stack of the old name", async () => {
    const made = await new Resource("PlatformKey", "writer").create(up(), KEY);
    await new Resource("PlatformKey", "writer", "prod").keep(up(), made, { ...KEY, displayName: "Writer" });
    await expect(new Resource("PlatformKey", "writer").create(up(), KEY)).rejects.toMatchObject(REFUSED);
    expect(await tryKey(made)).toBe(200);
  });

  test.each<[string, string, Values]>([
    ["PlatformTeam", "teams", { name: "shared" }],
    ["MemoryLibrary", "libraries", { name: "shared", team: "reused", deletionPolicy: "Retain" }],
  ])(
    "b461: a %s that a stack has destroyed is another's once that makes it again: it is not taken up",
    async (kind, path, given) => {
      const [dev, staging] = [new Resource(kind, "shared"), new Resource(kind, "shared", "staging")];
      await dev.destroy(up(), await dev.create(up(), given));
      const { id } = await staging.create(up(), { ...given, displayName: "Staging" });
      for (const program of [given, { ...given, displayName: "Dev" }]) {
        const refused = { details: expect.stringContaining("there is one named") };
        await expect(dev.create(up(), program)).rejects.toMatchObject(refused);
      }
      expect((await api.send("GET", `/${path}/${id}`)).body.spec).toMatchObject({ displayName: "Staging" });
    },
  );
});

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { describeOnTofu, REQUIRED_PROVIDERS, REQUIRED_WITH_STORE } from "../../env/opentofu.ts";

const FULL_KEY = /inf_[0-9A-Za-z]{57}/;

/** A secret goes into a store once, and out of the store into the key. */
const inStore = (team: string, store: string, version: number, more: string) => `${REQUIRED_WITH_STORE}
ephemeral "keyplane_platform_key_secret" "new" {}

resource "teststore_secret" "reader" {
  path             = "${store}/reader"
  value_wo         = ephemeral.keyplane_platform_key_secret.new.secret
  value_wo_version = ${version}
}

ephemeral "teststore_secret" "reader" {
  id = teststore_secret.reader.id
}

resource "keyplane_platform_key" "reader" {
  name              = "reader"
  team              = "${team}"
  secret_wo         = ephemeral.teststore_secret.reader.value
  secret_wo_version = ${version}
  ${more}
}

output "prefix" {
  value = keyplane_platform_key.reader.prefix
}
`;

describeOnTofu("the secret of a key", ({ makeWorkspace, manage, call }) => {
  it("goes through a store into the key, and is in no state, no plan and no log", async () => {
    await manage("POST", "teams", { name: "stored", spec: {} });
    const { tofu, write, store, everything } = await makeWorkspace({}, { logs: true });
    const stored = () => readFile(join(store, "reader"), "utf8");
    const run = async (...args: string[]) => expect(await tofu(...args)).toMatchObject({ code: 0 });
    await write("main.tf", inStore("stored", store, 1, 'preset = "MCPReadOnly"'));
    await run("apply", "-auto-approve");
    const first = await stored();
    expect(first).toMatch(FULL_KEY);
    expect(await call(first)).toBe(200);

    await write("main.tf", inStore("stored", store, 2, 'preset = "MCPReadOnly"\noverlap = "1h"'));
    await run("plan", "-out=plan");
    await run("show", "-json", "plan");
    await run("apply", "plan");
    const second = await stored();
    expect([second === first, await call(first), await call(second)]).toEqual([false, 200, 200]);

    await write("main.tf", inStore("stored", store, 3, 'preset = "MCPReadOnly"\noverlap = "0s"'));
    await run("apply", "-auto-approve");
    const third = await stored();
    expect([await call(first), await call(second), await call(third)]).toEqual([401, 401, 200]);
    await run("plan", "-detailed-exitcode");
    await run("show");
    await run("destroy", "-auto-approve");
    expect(await call(third)).toBe(401);
    const all = await everything();
    for (const text of [third.slice(0, 12), "[TRACE]"]) expect(all).toContain(text);
    expect([FULL_KEY.test(all), [first, second, third].some((text) => all.includes(text))]).toEqual([false, false]);
  });

  it("goes as it was made into a key and beside it into what cannot be read back", async () => {
    await manage("POST", "teams", { name: "beside", spec: {} });
    const { tofu, write, store, everything } = await makeWorkspace({}, { logs: true });
    const configured = (version: number) => `${REQUIRED_WITH_STORE}
ephemeral "keyplane_platform_key_secret" "new" {}

resource "keyplane_platform_key" "reader" {
  name              = "reader"
  team              = "beside"
  preset            = "MCPReadOnly"
  secret_wo         = ephemeral.keyplane_platform_key_secret.new.secret
  secret_wo_version = ${version}
}

resource "teststore_secret" "reader" {
  path             = "${store}/reader"
  value_wo         = ephemeral.keyplane_platform_key_secret.new.secret
  value_wo_version = keyplane_platform_key.reader.secret_wo_version
}
`;
    for (const version of [1, 2]) {
      await write("main.tf", configured(version));
      expect(await tofu("apply", "-auto-approve")).toMatchObject({ code: 0 });
      expect(await call(await readFile(join(store, "reader"), "utf8"))).toBe(200);
    }
    // A version that a person makes is of the key alone: what the store has is left as it is.
    const { body } = await manage("GET", "keys?team=beside");
    await manage("POST", `keys/${body.items[0].id}/versions`, {});
    expect(await tofu("plan", "-detailed-exitcode")).toMatchObject({ code: 0 });
    expect(await everything()).not.toMatch(FULL_KEY);
  });

  it("is the store's after an apply that failed between the two", async () => {
    await manage("POST", "teams", { name: "halfway", spec: {} });
    const { tofu, write, store } = await makeWorkspace({});
    await write("main.tf", inStore("halfway", store, 1, 'scopes = ["memory:reed"]'));
    expect(await tofu("apply", "-auto-approve")).toMatchObject({ code: 1 });
    const stored = await readFile(join(store, "reader"), "utf8");
    await write("main.tf", inStore("halfway", store, 1, 'preset = "MCPReadOnly"'));
    expect(await tofu("apply", "-auto-approve")).toMatchObject({ code: 0 });
    expect([await readFile(join(store, "reader"), "utf8"), await call(stored)]).toEqual([stored, 200]);
  });

  it("is another one for another key: what is replaced, or was revoked elsewhere, asks for it", async () => {
    await manage("POST", "teams", { name: "again", spec: {} });
    const { tofu, write, store } = await makeWorkspace({});
    await write("main.tf", inStore("again", store, 1, 'preset = "MCPReadOnly"'));
    expect(await tofu("apply", "-auto-approve")).toMatchObject({ code: 0 });
    await write("main.tf", inStore("again", store, 1, 'preset = "MCPReadOnly"\nnamespace = "other"'));
    expect((await tofu("plan")).out).toContain("Another key needs another secret");

    await write("main.tf", inStore("again", store, 1, 'preset = "MCPReadOnly"'));
    const { body } = await manage("GET", "keys?team=again");
    await manage("POST", `keys/${body.items[0].id}/revoke`, {});
    expect((await tofu("apply", "-auto-approve")).out).toContain("Have the store take a new secret");
    await write("main.tf", inStore("again", store, 2, 'preset = "MCPReadOnly"'));
    expect(await tofu("apply", "-auto-approve")).toMatchObject({ code: 0 });
    expect(await call(await readFile(join(store, "reader"), "utf8"))).toBe(200);
  });

  it("finds the key that an apply made whose state was lost", async () => {
    await manage("POST", "teams", { name: "lost", spec: {} });
    const { tofu, write, store } = await makeWorkspace({});
    await write("main.tf", inStore("lost", store, 1, 'preset = "MCPReadOnly"'));
    expect(await tofu("apply", "-auto-approve")).toMatchObject({ code: 0 });
    await tofu("state", "rm", "keyplane_platform_key.reader");
    await write("main.tf", inStore("lost", store, 1, 'preset = "MCPReadWrite"'));
    const found = await tofu("apply", "-auto-approve");
    expect(found).toMatchObject({ code: 0, out: expect.stringContaining('The key "reader" was there already') });
    const { body } = await manage("GET", "keys?team=lost");
    expect(body.items).toMatchObject([{ spec: { preset: "MCPReadWrite" }, versions: [{ number: 1 }] }]);
  });

  it("b173: is the new one also where both begin alike, as those of another system may", async () => {
    await manage("POST", "teams", { name: "alike", spec: {} });
    const { tofu, write } = await makeWorkspace({});
    const [first, second] = ["a", "b"].map((character) => `inf_ourproject${character.repeat(30)}`);
    const apply = async (version: number, given: string | undefined) => {
      await write(
        "main.tf",
        `${REQUIRED_PROVIDERS}\nvariable "given" {\n  type = string\n  ephemeral = true\n}\nresource "keyplane_platform_key" "reader" {\n  name = "reader"\n  team = "alike"\n  preset = "MCPReadOnly"\n  overlap = "0s"\n  secret_wo = var.given\n  secret_wo_version = ${version}\n}\n`,
      );
      return tofu("apply", "-auto-approve", `-var=given=${given}`);
    };
    expect(await apply(1, first)).toMatchObject({ code: 0 });
    expect(await apply(2, second)).toMatchObject({ code: 0 });
    expect([await call(first ?? ""), await call(second ?? "")]).toEqual([401, 200]);
  });

  it("is refused where it is none, and is not shown", async () => {
    await manage("POST", "teams", { name: "wrong", spec: {} });
    const { tofu, write } = await makeWorkspace({});
    const configured = (fields: string) =>
      `${REQUIRED_PROVIDERS}\nvariable "given" {\n  type = string\n  ephemeral = true\n}\nresource "keyplane_platform_key" "reader" {\n  name = "reader"\n  team = "wrong"\n  preset = "MCPReadOnly"\n${fields}\n}\n`;
    await write("main.tf", configured("secret_wo = var.given\nsecret_wo_version = 1"));
    const refused = await tofu("apply", "-auto-approve", "-var=given=canary of a value");
    expect(refused.out).toContain("It is no secret of a key");
    expect(refused.out).not.toContain("canary");
    const other =
      'resource "keyplane_platform_key" "writer" {\n  name = "writer"\n  team = "wrong"\n  secret_wo_version = 1\n}\n';
    await write("main.tf", `${configured("secret_wo = var.given")}${other}`);
    const { out } = await tofu("plan", "-var=given=canary of a value");
    expect(out).toContain("Write secret_wo_version = 1");
    expect(out).toContain("Give secret_wo too, or neither");
  });
});

describeOnTofu("keyplane_ephemeral_key", ({ makeWorkspace, manage, call }) => {
  it("works while the apply goes on, and is revoked as it ends", async () => {
    await manage("POST", "teams", { name: "ephemeral", spec: {} });
    const { tofu, write, store, everything } = await makeWorkspace({}, { logs: true });
    await write(
      "main.tf",
      `${REQUIRED_PROVIDERS}
ephemeral "keyplane_ephemeral_key" "run" {
  team   = "ephemeral"
  preset = "MCPReadWrite"
}

resource "terraform_data" "use" {
  provisioner "local-exec" {
    environment = { KEY = ephemeral.keyplane_ephemeral_key.run.secret }
    command     = <<-EOT
      umask 077
      printf %s "$KEY" > ${store}/key
      printf 'Authorization: Bearer %s' "$KEY" > ${store}/header
      curl -s -o /dev/null -w '%%{http_code}' --retry 5 -H @${store}/header "$KEYPLANE_URL/atoms" > ${store}/status
    EOT
  }
}
`,
    );
    expect(await tofu("plan", "-out=plan")).toMatchObject({ code: 0 });
    expect(await tofu("apply", "plan")).toMatchObject({ code: 0 });
    expect(await readFile(join(store, "status"), "utf8")).toBe("200");
    const used = await readFile(join(store, "key"), "utf8");
    expect(await call(used)).toBe(401);
    const { body } = await manage("GET", "keys?team=ephemeral");
    // One of the plan, one of the apply.
    expect(body.items.map(({ state }: { state: string }) => state)).toEqual(["revoked", "revoked"]);
    const all = await everything();
    expect([all.includes(used), FULL_KEY.test(all)]).toEqual([false, false]);
  });
});

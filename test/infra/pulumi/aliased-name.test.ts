import messages from "@pulumi/pulumi/proto/provider_pb.js";
import { expect, test } from "vitest";
import { structOf, valuesOf } from "../../../infra/pulumi/provider/engine/structs.ts";
import { handleCheck } from "../../../infra/pulumi/provider/resource-handlers.ts";
import type { Values } from "../../../infra/pulumi/provider/values.ts";

const TYPE = "keyplane:index:PlatformKey";

function check(urn: string, olds: Values): Values {
  const request = new messages.CheckRequest()
    .setType(TYPE)
    .setUrn(urn)
    .setName(urn.split("::").at(-1) ?? "")
    .setOlds(structOf(olds))
    .setNews(structOf({ team: "research", preset: "MCPReadOnly" }));
  return valuesOf(handleCheck(request).getInputs());
}

test.each([
  ["gets another name in the program, with aliases", `urn:pulumi:dev::app::${TYPE}::docs-reader`],
  ["gets another parent, with aliases", `urn:pulumi:dev::app::my:index:App$${TYPE}::reader`],
  ["is of a stack that is renamed", `urn:pulumi:production::app::${TYPE}::reader`],
])("b435: a key to which its program gives no name keeps its name, and so is not replaced, where it %s", (_, urn) => {
  const before = check(`urn:pulumi:dev::app::${TYPE}::reader`, {});
  expect(check(urn, before)).toEqual(before);
});

import { GATEWAY_OPERATIONS, isForwarded, type OperationRow } from "../../../domain/access/gateway-operations.ts";
import { SERVED_PATHS, type ServedPath } from "../../../server/gateway/classify.ts";
import { modelPart } from "../../../server/gateway/model/form-scan.ts";
import { type Calls, type Make, withKey } from "./calls.ts";
import type { World } from "./world.ts";

/** Each path of the gateway: as they are classified. */
export function gatewayCalls(): Record<string, Calls> {
  return Object.fromEntries(
    SERVED_PATHS.map((served) => [`${served.method} /g/{publicId}/${served.path}`, callsOf(served)]),
  );
}

function bodyOf({ models, kept, example = {} }: OperationRow, model: string): object {
  if (kept?.members !== undefined) return example;
  return models === "in the requests"
    ? { requests: [{ custom_id: "1", params: { model } }] }
    : { model, input: "Hello" };
}

const RESUMABLE = { "x-goog-upload-protocol": "resumable", "x-goog-upload-command": "start" };

function callsOf({ method, path, operation, dialect = "openai" }: ServedPath): Calls {
  const row = GATEWAY_OPERATIONS[operation];
  const route = `fast-${dialect}`;
  const at =
    (gateway: keyof World["gateways"], model = route): Make =>
    (world) => {
      const url = `/g/${world.gateways[gateway]}/${path.replace("{model}", model).replaceAll(/\{\w+\}/g, "x")}`;
      const body =
        row.body === "none" ? undefined : path.includes("{model}") ? (row.asks ? row.example : {}) : bodyOf(row, model);
      const call = withKey(world, method, url, body);
      if (row.kept?.resumes) return { ...call, headers: { ...call.headers, ...RESUMABLE } };
      if (row.body !== "form") return call;
      const headers = { ...call.headers, "content-type": "multipart/form-data; boundary=b" };
      return { ...call, headers, body: `--b\r\n${modelPart(model)}\r\n--b--\r\n` };
    };
  if (!isForwarded(row)) {
    return { valid: at("main"), ...(path.includes("{model}") && { refused: { not_found: at("main", "nothing") } }) };
  }
  return {
    valid: at("main"),
    refused: {
      not_found: at("bare"),
      bad_gateway: at("dead"),
      gateway_timeout: at("silent"),
      upstream_credential_refused: at("locked"),
    },
  };
}

/**
 * Part of Kubernetes' structural schemas that `crds/` uses. The offline validator does not understand any other
 * keyword,
 * so a test refuses it.
 */
export type Schema = {
  readonly description?: string;
  readonly type: "object" | "array" | "string" | "integer" | "boolean";
  readonly format?: "date-time" | "cidr" | "int32" | "int64";
  readonly default?: unknown;
  readonly enum?: readonly string[];
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly items?: Schema;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly "x-kubernetes-list-type"?: "atomic" | "set" | "map";
  readonly "x-kubernetes-list-map-keys"?: readonly string[];
  readonly "x-kubernetes-map-type"?: "atomic";
  readonly "x-kubernetes-validations"?: readonly CelRule[];
};

/** A CEL rule. A rule that mentions `oldSelf` is a transition rule: it is checked only if there is a stored object. */
export type CelRule = {
  readonly rule: string;
  /** Message that says what to write instead. */
  readonly message: string;
  /** Path of the faulty field, such as `.spec.preset`, from the node that carries the rule. */
  readonly fieldPath?: string;
};

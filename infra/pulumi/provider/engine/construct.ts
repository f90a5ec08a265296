/**
 * Constructs `EnvironmentKeys` for a program of any language. The component and its keys are registered with the
 * engine, which has this same provider make the keys as it makes any other.
 */
import messages, { type ConstructRequest, type ConstructResponse } from "@pulumi/pulumi/proto/provider_pb.js";
import monitorMessages, { type RegisterResourceResponse } from "@pulumi/pulumi/proto/resource_pb.js";
import { type Environment, type ForEach, forEachEnvironment, keyName } from "../../environments.ts";
import { decidersOf, keysOf, refuseFaults } from "../environment-keys.ts";
import { failureOf } from "../failure.ts";
import { referTo, Secret, secretsIn, type Values } from "../values.ts";
import { type Monitor, openMonitor } from "./monitor.ts";
import type { ProviderSession } from "./session.ts";
import { structOf, valuesOf } from "./structs.ts";

const COMPONENT = "keyplane:index:EnvironmentKeys";

export async function construct(
  session: Pick<ProviderSession, "reference">,
  request: ConstructRequest,
): Promise<ConstructResponse> {
  const [type, args] = [request.getType(), valuesOf(request.getInputs())];
  if (type !== COMPONENT) throw new Error(`${type} is no component of Keyplane's: see that provider and program fit`);
  const monitor = openMonitor(request.getMonitorendpoint());
  try {
    const keys = keysOf(request.getName(), args);
    refuseFaults(request.getName(), keys);
    const urn = await registerComponent(monitor, request);
    const made = await registerKeys(monitor, { keys, urn, request, provider: providerOf(request, session) });
    const outputs = outputsOf(made);
    await monitor.registerOutputs(urn, outputs);
    return responseOf(urn, outputs, made);
  } catch (error) {
    throw failureOf(error, undefined, secretsIn(args));
  } finally {
    monitor.close();
  }
}

/** Returns the provider that the program names for the keys, or else this one. */
function providerOf(request: ConstructRequest, { reference = "" }: Pick<ProviderSession, "reference">): string {
  return request.getProvidersMap().get("keyplane") ?? reference;
}

/**
 * Registers the component.
 *
 * @returns its URN
 */
async function registerComponent(monitor: Monitor, request: ConstructRequest): Promise<string> {
  const component = new monitorMessages.RegisterResourceRequest()
    .setType(COMPONENT)
    .setName(request.getName())
    .setParent(request.getParent())
    .setObject(structOf({}))
    .setAliasesList(request.getAliasesList())
    .setAliasspecs(true)
    .setDependenciesList(request.getDependenciesList())
    .setDeletedwith(request.getDeletedwith())
    .setAcceptsecrets(true);
  // Keys inherit these from it.
  if (request.hasProtect()) component.setProtect(request.getProtect() === true);
  if (request.hasRetainondelete()) component.setRetainondelete(request.getRetainondelete() === true);
  for (const [name, reference] of request.getProvidersMap().entries()) component.getProvidersMap().set(name, reference);
  return (await monitor.register(component)).getUrn();
}

type Registration = {
  readonly keys: ForEach<Values>;
  /** URN of the component. */
  readonly urn: string;
  readonly request: ConstructRequest;
  readonly provider: string;
};

/**
 * Registers the keys.
 *
 * @returns the engine's answer for each, once all exist
 */
async function registerKeys(monitor: Monitor, registration: Registration): Promise<ForEach<RegisterResourceResponse>> {
  const answers = forEachEnvironment((environment) => registerKey(monitor, environment, registration));
  const [dev, staging, production] = await Promise.all([answers.dev, answers.staging, answers.production]);
  return { dev, staging, production };
}

function registerKey(
  monitor: Monitor,
  environment: Environment,
  { keys, urn, request, provider }: Registration,
): Promise<RegisterResourceResponse> {
  const inputs = keys[environment];
  const key = new monitorMessages.RegisterResourceRequest()
    .setType("keyplane:index:PlatformKey")
    .setName(keyName(request.getName(), environment))
    .setParent(urn)
    .setCustom(true)
    .setObject(structOf(inputs))
    .setProvider(provider)
    .setAliasspecs(true)
    .setAcceptsecrets(true)
    .setSupportspartialvalues(true);
  const all = new Set<string>();
  for (const property of Object.keys(inputs)) {
    const urns = dependenciesOf(property, request);
    for (const urn of urns) all.add(urn);
    const dependencies = new monitorMessages.RegisterResourceRequest.PropertyDependencies().setUrnsList(urns);
    key.getPropertydependenciesMap().set(property, dependencies);
  }
  return monitor.register(key.setDependenciesList([...all]));
}

/** Returns the resources that an input of a key depends on, from the arguments that determine it. */
function dependenciesOf(property: string, request: ConstructRequest): string[] {
  const ofArguments = request.getInputdependenciesMap();
  const urns = [property, ...decidersOf(property)].flatMap((name) => ofArguments.get(name)?.getUrnsList() ?? []);
  return [...new Set(urns)];
}

/** Returns the outputs that the program sees, in the form of the schema. */
function outputsOf(made: ForEach<RegisterResourceResponse>): Values {
  const keys = forEachEnvironment((environment) => {
    const answer = made[environment];
    return referTo({ urn: answer.getUrn(), id: answer.getId() });
  });
  const secrets = Object.entries(made).flatMap(([environment, answer]) => {
    const { secret } = valuesOf(answer.getObject());
    return secret === undefined ? [] : [[environment, secret instanceof Secret ? secret.value : secret] as const];
  });
  return { keys, secrets: new Secret(Object.fromEntries(secrets)) };
}

function responseOf(urn: string, outputs: Values, made: ForEach<RegisterResourceResponse>): ConstructResponse {
  const response = new messages.ConstructResponse().setUrn(urn).setState(structOf(outputs));
  const urns = Object.values(made).map((answer) => answer.getUrn());
  for (const output of Object.keys(outputs)) {
    const dependencies = new messages.ConstructResponse.PropertyDependencies().setUrnsList(urns);
    response.getStatedependenciesMap().set(output, dependencies);
  }
  return response;
}

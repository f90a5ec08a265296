import type { GatewayRecord } from "../../domain/access/key-record.ts";

/** Gateways by public id. A public id that changes hands is the new gateway's alone. */
export class GatewayTable {
  readonly #gateways = new Map<string, GatewayRecord>();
  readonly #publicIds = new Map<string, string>();

  get size(): number {
    return this.#gateways.size;
  }

  all(): GatewayRecord[] {
    return [...this.#gateways.values()];
  }

  find(publicId: string): GatewayRecord | undefined {
    return this.#gateways.get(publicId);
  }

  publicIdOf(gatewayId: string): string | undefined {
    return this.#publicIds.get(gatewayId);
  }

  /** Takes in the present state of a gateway. */
  apply(gateway: GatewayRecord): void {
    this.remove(gateway.gatewayId);
    this.#gateways.set(gateway.publicId, gateway);
    this.#publicIds.set(gateway.gatewayId, gateway.publicId);
  }

  remove(gatewayId: string): void {
    const publicId = this.#publicIds.get(gatewayId);
    if (publicId === undefined) return;
    this.#publicIds.delete(gatewayId);
    if (this.#gateways.get(publicId)?.gatewayId === gatewayId) this.#gateways.delete(publicId);
  }
}

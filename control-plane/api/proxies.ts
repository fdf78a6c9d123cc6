import type { IncomingMessage } from 'node:http';
import { compileAddressRanges } from '../../shared/admission/address-ranges.ts';
import { createClientAddress, splitProxies } from '../../shared/admission/client-address.ts';
import type { ClientAddress } from '../../shared/admission/client-address.ts';

export type Proxies = {
  readonly clientAddress: ClientAddress;
  addressOf(request: IncomingMessage): string;
  isProxy(address: string): boolean;
};

/** The proxies whose word on the address of a client is taken. */
export function readProxies(env: { readonly TRUSTED_PROXIES: string }): Proxies {
  const proxies = splitProxies(env.TRUSTED_PROXIES);
  const ranges = compileAddressRanges(proxies);
  const clientAddress = createClientAddress(ranges, proxies.length > 0);
  return {
    clientAddress,
    addressOf: ({ socket, headers }) =>
      clientAddress.ofText(socket.remoteAddress ?? '', String(headers['x-forwarded-for'] ?? '')),
    isProxy: (address) => ranges.includes(address),
  };
}

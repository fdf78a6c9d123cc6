import type { IncomingMessage } from 'node:http';
import { readTrustedProxies } from '../../shared/admission/client-address.ts';
import type { ClientAddress } from '../../shared/admission/client-address.ts';

export type Proxies = {
  readonly clientAddress: ClientAddress;
  addressOf(request: IncomingMessage): string;
  isProxy(address: string): boolean;
};

export function readProxies(env: Parameters<typeof readTrustedProxies>[0]): Proxies {
  const { ranges, clientAddress } = readTrustedProxies(env);
  return {
    clientAddress,
    addressOf: ({ socket, headers }) =>
      clientAddress.ofText(socket.remoteAddress ?? '', String(headers['x-forwarded-for'] ?? '')),
    isProxy: (address) => ranges.includes(address),
  };
}

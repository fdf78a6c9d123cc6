import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

import { EmbeddedServerError } from './embedded-server-error.ts';

// Below 32768, where Linux's ports for outgoing connections begin, so that no such connection occupies the port of a
// server that is being restarted.
const portMin = 20_000;
const portMax = 32_000;
const attemptsMax = 64;

/**
 * A TCP port without a listener: `preferred` if it is free, else a random one, which this function gives to no other
 * process of this machine for a while. Another program may still take the port first.
 */
export async function findFreePort(preferred?: number): Promise<number> {
  if (preferred !== undefined && (await isPortFree(preferred))) {
    return preferred;
  }
  for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
    const port = randomInt(portMin, portMax);
    if ((await reserve(port)) && (await isPortFree(port))) {
      return port;
    }
  }
  throw new EmbeddedServerError(
    'port_busy',
    `found no free TCP port between ${portMin} and ${portMax} in ${attemptsMax} tries`,
  );
}

/** How long a port stays reserved: enough for the caller to listen on it, and to restart a few times. */
const reservedMs = 600_000;

/**
 * Reserves a port in all processes by an abstract socket named after it, which the system closes with the process.
 * Returns false if the port is already reserved. Abstract sockets exist on Linux only; elsewhere nothing is reserved.
 */
async function reserve(port: number): Promise<boolean> {
  const holder = createServer();
  holder.unref();
  holder.listen(`\0sluice-port-${port}`);
  try {
    await once(holder, 'listening');
  } catch (error) {
    return !(error instanceof Error && 'code' in error && error.code === 'EADDRINUSE');
  }
  setTimeout(() => holder.close(), reservedMs).unref();
  return true;
}

/** Whether this process can listen on the port, both on loopback and on all addresses. */
export async function isPortFree(port: number): Promise<boolean> {
  return (await probePort(port)) === undefined;
}

/** Throws unless the port is free, naming the environment variable that chooses another port. */
export async function assertPortFree(port: number, variable: string): Promise<void> {
  const obstacle = await probePort(port);
  if (obstacle === undefined) {
    return;
  }
  const reason = obstacle === 'EACCES' ? 'may not be used by this account' : 'is in use by another program';
  throw new EmbeddedServerError(
    'port_busy',
    `port ${port} ${reason} (${obstacle}); set ${variable} to another port, or stop what is using it`,
  );
}

/** The wanted port, or a random free one for 0 or undefined. Throws if `wanted` is in use; the error names `user`. */
export async function choosePort(wanted: number | undefined, user: string): Promise<number> {
  if (wanted === undefined || wanted === 0) {
    return findFreePort();
  }
  if (!(await isPortFree(wanted))) {
    throw new EmbeddedServerError('port_busy', `port ${wanted}, wanted for ${user}, is in use by another program`);
  }
  return wanted;
}

/** The error code of listening on the port; undefined if listening succeeds. */
async function probePort(port: number): Promise<string | undefined> {
  // Loopback is tried too, because some systems let a wildcard listener share a port with a loopback listener.
  return (await listenOnce(port, '127.0.0.1')) ?? (await listenOnce(port, undefined));
}

async function listenOnce(port: number, host: string | undefined): Promise<string | undefined> {
  // Clients that retry a server that is down may connect here, and open connections would delay the close.
  const server = createServer((socket) => socket.destroy());
  try {
    server.listen({ port, host, exclusive: true });
    await once(server, 'listening');
    server.close();
    await once(server, 'close');
    return undefined;
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
  }
}

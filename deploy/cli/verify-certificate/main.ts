import { readFile } from 'node:fs/promises';
import { Command } from 'commander';
import { verifyCertificate } from '../../../shared/contracts/erasure-certificate.ts';

// Verifies the certificate of an erasure without this installation: with the certificate and the account's public keys.
const program = new Command('verify-certificate')
  .description('Verify the certificate of an erasure and print what it says')
  .argument('<file>', 'the answer of GET /rest/v1/erasures/{id}/certificate')
  .requiredOption('--jwks <file or URL>', 'the answer of GET /rest/v1/account/keys');
program.action(async (file: string, { jwks }: { readonly jwks: string }) => {
  try {
    const payload = verifyCertificate(await readJson(file), await readJson(jwks));
    process.stdout.write(`${JSON.stringify(payload, undefined, 2)}\n`);
  } catch (error) {
    process.stderr.write(`verify-certificate: ${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  }
});
await program.parseAsync();

const timeoutMs = 10_000;

async function readJson(place: string): Promise<unknown> {
  try {
    if (!/^https?:\/\//.test(place)) return JSON.parse(await readFile(place, 'utf8'));
    const answer = await fetch(place, { signal: AbortSignal.timeout(timeoutMs) });
    if (!answer.ok) throw new Error(`status ${answer.status}`);
    return await answer.json();
  } catch (cause) {
    throw new Error(`reading ${place}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
}

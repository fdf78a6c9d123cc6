import { readFile } from 'node:fs/promises';
import { Command } from 'commander';
import { faultsOf, runCommand, runProgram } from '../../../shared/command-line/run-command.ts';
import { verifyCertificate } from '../../../shared/contracts/erasure-certificate.ts';

type Options = { readonly jwks: string; readonly json?: true };

// Verifies an erasure certificate without this installation, using the certificate and the account's public keys.
const program = new Command('verify-certificate')
  .description('Verify the certificate of an erasure and print its content')
  .argument('<file>', 'the answer of GET /rest/v1/erasures/{id}/certificate')
  .requiredOption('--jwks <file or URL>', 'the answer of GET /rest/v1/account/keys')
  .option('--json', 'for programs: {valid, payload} or {valid, reasons}')
  .action((file: string, options: Options) => runCommand('verify-certificate', () => verify(file, options)));
await runProgram(program);

async function verify(file: string, { jwks, json }: Options): Promise<number> {
  const print = (value: unknown): void => void process.stdout.write(`${JSON.stringify(value, undefined, 2)}\n`);
  try {
    const payload = verifyCertificate(await readJson(file), await readJson(jwks));
    print(json === true ? { valid: true, payload } : payload);
    return 0;
  } catch (error) {
    if (json !== true) throw error;
    print({ valid: false, reasons: faultsOf(error) });
    return 1;
  }
}

const timeoutMs = 10_000;

async function readJson(place: string): Promise<unknown> {
  try {
    if (!/^https?:\/\//.test(place)) return JSON.parse(await readFile(place, 'utf8'));
    const answer = await fetch(place, { signal: AbortSignal.timeout(timeoutMs) });
    if (!answer.ok) throw new Error(`status ${answer.status}`);
    return await answer.json();
  } catch (cause) {
    throw new Error(`reading ${place}: ${faultsOf(cause).join('; ')}`, { cause });
  }
}

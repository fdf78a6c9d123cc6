import { fail, ok, warn } from '../../../shared/doctor/finding.ts';
import type { Finding } from '../../../shared/doctor/finding.ts';
import { EnvError } from '../../../shared/runtime/env.ts';
import { checkDatabase } from './check-database.ts';
import { checkDisks } from './check-disk.ts';
import { checkLog, checkMonitors } from './check-log.ts';
import { checkMachine } from './check-machine.ts';
import { readDoctorEnv } from './env.ts';
import type { DoctorEnv } from './env.ts';
import { checkMemory } from './check-memory.ts';
import { checkSigning } from './check-signing.ts';
import { oneOfEach } from './memory-settings.ts';
import type { ServiceCounts } from './memory-settings.ts';
import { runChecks } from './run-checks.ts';

/**
 * Checks this machine, and the servers in its environment, from a service's point of view. Changes nothing.
 * `deadlineMs` limits each check, `counts` are the processes whose memory is summed.
 */
export async function examine(
  source: Readonly<Record<string, string | undefined>>,
  deadlineMs: number,
  counts: ServiceCounts = oneOfEach,
): Promise<Finding[]> {
  const machine = {
    about: 'machine',
    advice: 'report it as a bug: this check only asks Node.js',
    run: () => Promise.resolve(checkMachine()),
  };
  const env = readOrFindings(source);
  if (Array.isArray(env)) return [...env, ...(await runChecks([machine], deadlineMs))];
  // Shorter than a check's deadline: a server that does not respond is then reported by the request that waits for it.
  const answerMs = deadlineMs * 0.8;
  const checks = [
    machine,
    { about: 'log', advice: adviceOnLog, run: () => checkLog(env, answerMs) },
    { about: 'durability', advice: adviceOnMonitors, run: () => checkMonitors(env, answerMs) },
    { about: 'signed configuration', advice: adviceOnSigning, run: () => Promise.resolve(checkSigning(env)) },
    { about: 'database', advice: adviceOnDatabase, run: () => checkDatabaseOrSkip(env, answerMs) },
    { about: 'memory', advice: adviceOnMemory, run: () => checkMemory(env, answerMs, counts) },
    { about: 'disk', advice: adviceOnDisks, run: () => checkDisks(env, answerMs) },
  ];
  return [ok('environment', 'is valid'), ...(await runChecks(checks, deadlineMs))];
}

const adviceOnLog =
  'start nats-server with JetStream, or set NATS_URL and its login for the server that runs; check for a firewall';
const adviceOnMonitors = 'check that the monitor ports in NATS_MONITOR_URL can be reached from here';
const adviceOnSigning = 'report it as a bug: this check reads two variables and a file';
const adviceOnDatabase =
  'start PostgreSQL, or set DATABASE_URL and its login for the server that runs and a database that exists; check for a firewall';
const adviceOnMemory = 'check that nats-server and PostgreSQL on this machine answer';
const adviceOnDisks = 'check that the folders of nats-server and of SLUICE_DIR can be read and written in time';

function readOrFindings(source: Readonly<Record<string, string | undefined>>): DoctorEnv | Finding[] {
  try {
    return readDoctorEnv(source);
  } catch (error) {
    if (!(error instanceof EnvError)) throw error;
    const advice = 'a service with this environment does not start: fix it first';
    return error.problems.map((problem) => fail('environment', problem, advice));
  }
}

async function checkDatabaseOrSkip({ DATABASE_URL, ...env }: DoctorEnv, timeoutMs: number): Promise<Finding[]> {
  if (DATABASE_URL === undefined) {
    return [warn('database', 'DATABASE_URL is not set', 'fine on a machine that runs gateways only; else set it')];
  }
  return checkDatabase({ ...env, DATABASE_URL }, env, timeoutMs);
}

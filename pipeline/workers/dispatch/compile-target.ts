import type { LiveConfig } from '../../../shared/collections/read-live-collections.ts';
import { SettingError } from '../../../shared/destinations/sdk/settings.ts';
import type { OfferedDestination } from '../../../shared/destinations/common-settings.ts';
import { findDestinationKind, plannedKind } from '../../../shared/destinations/registry.ts';
import { withLimitedData } from '../../../shared/destinations/limit-data.ts';
import { compileAllowedData } from '../../../shared/routing/allowed-data.ts';
import { compileDispatchPlan } from '../../../shared/routing/dispatch-plan.ts';
import { PlanError } from '../../../shared/routing/values/plan-error.ts';
import type { PublishedDestination } from '../../../shared/routing/published-destinations.ts';
import type { JsonObject } from '../../../shared/runtime/json.ts';
import { SecretError, isSealed, settingContext } from '../../../shared/contracts/config/secrets.ts';
import type { SecretBox } from '../../../shared/contracts/config/secrets.ts';
import type { DispatchTarget } from './admission/dispatch-target.ts';

/** Compiles a published destination: its rules, and its kind, prepared with the opened secrets. */
export function compileTarget(
  config: LiveConfig,
  destination: PublishedDestination,
  secrets: SecretBox,
): DispatchTarget {
  const { versionNumber, publishedAt } = config;
  const described = { destination, versionNumber, publishedAtMs: Date.parse(publishedAt) };
  try {
    const plan = compileDispatchPlan(config, destination, plannedKind(destination.type));
    return { ...described, plan, prepared: prepare(config, destination, secrets), problem: undefined };
  } catch (error) {
    if (error instanceof PlanError || error instanceof SettingError || error instanceof SecretError) {
      return { ...described, plan: undefined, prepared: undefined, problem: error.message };
    }
    throw error;
  }
}

function prepare(config: LiveConfig, destination: PublishedDestination, secrets: SecretBox): OfferedDestination {
  const kind = findDestinationKind(destination.type);
  if (kind === undefined) throw new SettingError('type', `is ${destination.type}, unknown to this build`);
  const prepared = kind.prepare(openSettings(destination, secrets));
  const limit = compileAllowedData(config.collections.externalAllowedEventData);
  return limit === undefined ? prepared : withLimitedData(prepared, limit);
}

function openSettings({ accountId, id, settings }: PublishedDestination, secrets: SecretBox): JsonObject {
  const open = (key: string, value: unknown): unknown =>
    isSealed(value) ? secrets.open(value, settingContext(accountId, id, key)) : value;
  return Object.fromEntries(Object.entries(settings).map(([key, value]) => [key, open(key, value)]));
}

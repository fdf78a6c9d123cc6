import { PlanError } from '../plan/plan-error.ts';
import type { Subject } from '../plan/property-path.ts';
import { compileTemplate } from '../plan/template.ts';
import type { Template } from '../plan/template.ts';
import { SettingError } from './define.ts';
import type { OutboundEvent } from './define.ts';

/** Compiles the template of a setting. Throws SettingError naming the setting. */
export function templateSetting(key: string, text: string): Template {
  try {
    return compileTemplate(text, key);
  } catch (error) {
    if (error instanceof PlanError) throw new SettingError(key, error.problem);
    throw error;
  }
}

/** What templates of settings look at: the event as a mapping made it, where one applies, and its visitor. */
export function templateSubject({ resolved, mapped }: OutboundEvent): Subject {
  const { event, visitor } = resolved;
  if (mapped === undefined) return { event, visitor };
  return { event: { ...event, event: mapped.eventName, event_properties: mapped.properties }, visitor };
}

import { describe, expect, it } from 'vitest';
import { consentRuleSetting, orderSetting } from './common-settings.ts';
import { destinationKinds } from './registry.ts';
import { SettingError } from './sdk/settings.ts';

describe.each(destinationKinds.map((kind) => [kind.descriptor.id, kind] as const))('%s', (_id, kind) => {
  it('order: is offered, kept by default, and read', () => {
    expect(kind.descriptor.settings.filter(({ key }) => key === 'order')).toEqual([orderSetting.describe('order')]);
    expect(kind.prepare(kind.exampleSettings).order).toBe('visitor');
    expect(kind.prepare({ ...kind.exampleSettings, order: 'none' }).order).toBe('none');
  });

  it('consentRule: is offered, every purpose by default, and what it is not is refused', () => {
    const offered = kind.descriptor.settings.filter(({ key }) => key === 'consentRule');
    expect(offered).toEqual([consentRuleSetting.describe('consentRule')]);
    expect(() => kind.prepare({ ...kind.exampleSettings, consentRule: 'any' })).not.toThrow();
    expect(() => kind.prepare({ ...kind.exampleSettings, consentRule: 'some' })).toThrow('settings.consentRule');
  });

  it('order: what it is not is refused, naming it', () => {
    for (const order of ['None', 'strict', 7, {}]) {
      const prepare = () => kind.prepare({ ...kind.exampleSettings, order });
      expect(prepare).toThrow(SettingError);
      expect(prepare).toThrow('settings.order');
    }
  });
});

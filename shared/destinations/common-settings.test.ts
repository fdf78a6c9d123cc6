import { describe, expect, it } from 'vitest';
import { consentRuleSetting, orderSetting } from './common-settings.ts';
import { destinationKinds } from './registry.ts';
import { SettingError } from './sdk/settings.ts';

describe.each(destinationKinds.map((kind) => [kind.descriptor.id, kind] as const))('%s', (_id, kind) => {
  it('order: the setting is offered, defaults to visitor, and is read', () => {
    expect(kind.descriptor.settings.filter(({ key }) => key === 'order')).toEqual([orderSetting.describe('order')]);
    expect(kind.prepare(kind.exampleSettings).order).toBe('visitor');
    expect(kind.prepare({ ...kind.exampleSettings, order: 'none' }).order).toBe('none');
  });

  it('consentRule: the setting is offered, and an unknown value is refused', () => {
    const offered = kind.descriptor.settings.filter(({ key }) => key === 'consentRule');
    expect(offered).toEqual([consentRuleSetting.describe('consentRule')]);
    expect(() => kind.prepare({ ...kind.exampleSettings, consentRule: 'any' })).not.toThrow();
    expect(() => kind.prepare({ ...kind.exampleSettings, consentRule: 'some' })).toThrow('settings.consentRule');
  });

  it('order: an unknown value is refused with the name of the setting', () => {
    for (const order of ['None', 'strict', 7, {}]) {
      const prepare = () => kind.prepare({ ...kind.exampleSettings, order });
      expect(prepare).toThrow(SettingError);
      expect(prepare).toThrow('settings.order');
    }
  });
});

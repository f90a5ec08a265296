import { type Entry, entry } from "./corpus.ts";

export const CHINESE: readonly Entry[] = [
  entry("生产环境的密钥每九十天轮换一次，由安全团队负责。", [
    ["part", "密钥轮换"],
    ["words", "安全团队"],
    ["question", "密钥多久轮换一次？"],
  ]),
  entry("数据库备份保存在上海和成都两个机房，保留三十天。", [
    ["part", "数据库备份"],
    ["question", "备份保存在哪里？"],
    ["part", "机房"],
  ]),
  entry("支付网关超时后最多重试三次，然后转人工处理。", [
    ["part", "支付网关"],
    ["question", "支付超时重试几次？"],
  ]),
  entry("周五下午不允许发布新版本，除非值班经理同意。", [
    ["question", "周五可以发布吗？"],
    ["part", "值班经理"],
  ]),
  entry("客户李明希望报表用逗号分隔，并在每月一号发送。", [
    ["part", "李明"],
    ["question", "李明什么时候要报表？"],
  ]),
  entry("日志采集器的配置文件在 /etc/collector/pipeline.yaml，修改后需要重启。", [
    ["code", "/etc/collector/pipeline.yaml"],
    ["part", "采集器"],
    ["prefix", "collect"],
  ]),
  entry("会议室用飞书预订，超过十五分钟无人到场自动释放。", [
    ["part", "会议室预订"],
    ["typo", "会议室予订"],
  ]),
  entry("前端使用组件库 AntDesign，按钮颜色不要自己改。", [
    ["code", "antdesign"],
    ["part", "组件"],
  ]),
  entry("图片压缩服务在处理超过四千万像素的文件时会崩溃。", [
    ["part", "图片压缩"],
    ["question", "哪个服务会崩溃？"],
  ]),
  entry("合同到期前两个月提醒法务部续签。", [
    ["part", "续签合同"],
    ["part", "法务"],
  ]),
  entry("新员工的电脑由行政部准备，入职当天领取。", [["question", "新员工在哪里领电脑？"]]),
  entry("搜索索引每晚两点重建，大约需要四十分钟。", [
    ["part", "索引重建"],
    ["typo", "搜素索引"],
  ]),
  entry("用户头像存放在对象存储的 avatar-prod 桶里。", [
    ["code", "avatar-prod"],
    ["part", "头像"],
  ]),
  entry("短信验证码五分钟内有效，每天最多发送十条。", [
    ["part", "验证码"],
    ["question", "验证码多长时间有效？"],
  ]),
  entry("仓库盘点安排在每年六月的最后一个周末。", [["part", "盘点"]]),
  entry("食堂的酸辣土豆丝最受欢迎。", [["part", "土豆"]]),
  entry("打印机的墨盒放在二楼茶水间的柜子里。", [["question", "墨盒放在哪儿？"]]),
  entry("服务器迁移期间，只读模式持续两小时。", [["part", "只读"]]),
  entry("差旅报销要附发票原件。", [["source", "财务制度"]], { tags: ["财务制度"] }),
  entry("停车证每年换一次。", [["source", "wiki/parking-rules"]], { source: "wiki/parking-rules" }),
  entry("鱼缸由前台小王喂。", [["part", "鱼"]]),
  entry("灰度发布先放百分之五的流量。", [["part", "灰度"]]),
  entry("错误码 ERR_TOKEN_STALE 表示令牌过期，需要重新登录。", [
    ["code", "ERR_TOKEN_STALE"],
    ["part", "令牌过期"],
  ]),
  entry("消防演习在十一月举行。"),
  entry("办公室的绿植每周三浇水。"),
  entry("域名续费由运维组统一处理。", [["part", "域名"]]),
  entry("地图数据来自第三方供应商。"),
  entry("单元测试覆盖率不得低于八成。"),
  entry("快递请放在门口的架子上。"),
  entry("翻译稿件先由产品经理审核。"),
];
